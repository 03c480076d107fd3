// SPDX-License-Identifier: MIT
#include "groups/drain_repeat.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;
using groups::DrainRepeat;

TEST_CASE("drain repeat: nothing is due before a drain and after its answer") {
    constexpr TimePoint sent{1h};
    DrainRepeat drain;
    CHECK_FALSE(drain.is_under_way());
    CHECK(drain.due() == TimePoint::max());
    CHECK_FALSE(drain.end());
    drain.begin(sent);
    CHECK(drain.is_under_way());
    CHECK(drain.due() == sent + DrainRepeat::patience);
    CHECK(drain.end());
    CHECK_FALSE(drain.is_under_way());
    CHECK(drain.due() == TimePoint::max());
    CHECK_FALSE(drain.end()); // once
}

TEST_CASE("drain repeat: R16: an unanswered drain is sent again every 300 ms, and given up after "
          "ten seconds") {
    constexpr TimePoint sent{1h};
    DrainRepeat drain;
    drain.begin(sent);
    int repeats = 0;
    while (drain.repeat(drain.due())) {
        ++repeats;
        CHECK(drain.due() == sent + 300ms * (repeats + 1));
    }
    CHECK(repeats == 33); // the last at 9900 ms
    CHECK(drain.is_under_way());
    CHECK(drain.end()); // the answer came after all
}

TEST_CASE("drain repeat: the next instant counts from a late call, and the end from the drain") {
    constexpr TimePoint sent{1h};
    DrainRepeat drain;
    drain.begin(sent);
    CHECK(drain.repeat(sent + 5s)); // the loop was busy
    CHECK(drain.due() == sent + 5300ms);
    CHECK(drain.repeat(sent + 10s - 1ns));
    CHECK_FALSE(drain.repeat(sent + 10s));
}

TEST_CASE("drain repeat: a second drain has its whole time again") {
    constexpr TimePoint sent{1h};
    DrainRepeat drain;
    drain.begin(sent);
    CHECK(drain.repeat(sent + 9s));
    CHECK(drain.end());
    drain.begin(sent + 9s);
    CHECK(drain.due() == sent + 9300ms);
    CHECK(drain.repeat(sent + 18900ms));
    CHECK_FALSE(drain.repeat(sent + 19s));
}
