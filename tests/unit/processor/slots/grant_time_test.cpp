// SPDX-License-Identifier: MIT
#include "processor/slots/grant_time.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;
using detail::processor::GrantTime;

TEST_CASE("grant time: patience follows what answers to closes take, within bounds") {
    GrantTime time;
    CHECK(time.patience() == 20ms);
    for (int i = 0; i < 50; ++i) {
        time.closed_in(100us);
    }
    CHECK(time.patience() == 2ms);
    for (int i = 0; i < 50; ++i) {
        time.closed_in(30ms);
    }
    CHECK(time.patience() >= 110ms);
    CHECK(time.patience() <= 120ms);
    for (int i = 0; i < 50; ++i) {
        time.closed_in(190ms);
    }
    CHECK(time.patience() == 200ms);
}

TEST_CASE("grant time: one answer that comes very late spoils little") {
    GrantTime time;
    time.closed_in(10s);
    CHECK(time.patience() <= 120ms);
    for (int i = 0; i < 50; ++i) {
        time.closed_in(1ms);
    }
    CHECK(time.patience() <= 5ms);
}
