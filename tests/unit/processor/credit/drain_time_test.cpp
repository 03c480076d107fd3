// SPDX-License-Identifier: MIT
#include "processor/credit/drain_time.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;
using detail::processor::DrainTime;

TEST_CASE("drain time: the least of late, so that nothing is asked too early") {
    DrainTime time;
    CHECK(time.least() == Duration::zero());
    time.answered_in(80ms);
    CHECK(time.least() == 80ms);
    time.answered_in(50ms);
    CHECK(time.least() == 50ms);
    time.answered_in(210ms); // a single slow answer hardly counts
    CHECK(time.least() == 60ms);
}

TEST_CASE("drain time: it follows a way that has become longer, and stays below a second") {
    DrainTime time;
    time.answered_in(10ms);
    for (int i = 0; i < 200; ++i) {
        time.answered_in(100ms);
    }
    CHECK(time.least() > 95ms);
    for (int i = 0; i < 500; ++i) {
        time.answered_in(1min);
    }
    CHECK(time.least() <= 1s);
}
