#include "processor/grant_time.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;
using processor::GrantTime;

TEST_CASE("grant time: patience follows what grants take, within bounds") {
    GrantTime time;
    CHECK(time.patience() == 20ms);
    for (int i = 0; i < 50; ++i) {
        time.add(100us);
    }
    CHECK(time.patience() == 2ms);
    for (int i = 0; i < 50; ++i) {
        time.add(30ms);
    }
    CHECK(time.patience() >= 110ms);
    CHECK(time.patience() <= 120ms);
    for (int i = 0; i < 50; ++i) {
        time.add(190ms);
    }
    CHECK(time.patience() == 200ms);
}

TEST_CASE("grant time: an accept that waited long for a session says nothing") {
    GrantTime time;
    time.add(10s);
    CHECK(time.patience() == 20ms);
}
