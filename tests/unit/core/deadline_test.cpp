// SPDX-License-Identifier: MIT
#include <sessionq/deadline.hpp>

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;

namespace {

constexpr TimePoint t0{std::chrono::hours{1}};

} // namespace

TEST_CASE("deadline: never passes without a time") {
    CHECK(Deadline{}.is_never());
    CHECK(Deadline{} == Deadline::never());
    CHECK_FALSE(Deadline::never().passed(TimePoint::max()));
    CHECK(Deadline::never().remaining(t0) == Duration::max());
}

TEST_CASE("deadline: R20: is absolute, and the remaining time shrinks to zero") {
    const Deadline deadline = Deadline::after(10s, t0);
    CHECK(deadline.time() == t0 + 10s);
    CHECK(deadline.remaining(t0 + 4s) == 6s);
    CHECK_FALSE(deadline.passed(t0 + 10s - 1ns));
    CHECK(deadline.passed(t0 + 10s));
    CHECK(deadline.remaining(t0 + 11s) == Duration::zero());
}

TEST_CASE("deadline: a length that would overflow never passes, and a negative one has passed") {
    CHECK(Deadline::after(Duration::max(), t0).is_never());
    CHECK(Deadline::after(-1s, t0).passed(t0));
    CHECK(Deadline::after(Duration::zero(), t0).passed(t0));
}

TEST_CASE("deadline: R20: the sooner of two deadlines shortens and never extends") {
    const Deadline soon = Deadline::at(t0 + 1s);
    const Deadline late = Deadline::at(t0 + 2s);
    CHECK(soon.sooner(late) == soon);
    CHECK(late.sooner(soon) == soon);
    CHECK(soon.sooner(Deadline::never()) == soon);
    CHECK(soon < late);
}
