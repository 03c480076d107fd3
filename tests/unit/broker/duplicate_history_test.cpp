// SPDX-License-Identifier: MIT
#include "broker/duplicate_history.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;

TEST_CASE("duplicate history: remembers an id for its window and no longer") {
    broker::DuplicateHistory history{10s};
    const TimePoint start{1h};
    CHECK_FALSE(history.find("a", start));
    history.add("a", 7, start);
    history.add("b", 8, start + 5s);
    CHECK(history.find("a", start + 9s) == 7);
    CHECK_FALSE(history.find("a", start + 10s));
    CHECK(history.find("b", start + 10s) == 8);
    CHECK(history.size() == 1);
}

TEST_CASE("duplicate history: an id that returns after its window counts as new") {
    broker::DuplicateHistory history{10s};
    const TimePoint start{1h};
    history.add("a", 1, start);
    CHECK_FALSE(history.find("a", start + 20s));
    history.add("a", 2, start + 20s);
    CHECK(history.find("a", start + 29s) == 2);
    CHECK_FALSE(history.find("a", start + 30s));
    CHECK(history.size() == 0);
}

TEST_CASE("duplicate history: its bytes follow what is remembered") {
    broker::DuplicateHistory history{10s};
    const TimePoint start{1h};
    CHECK(history.bytes(start) == 0);
    history.add("a", 1, start);
    const std::size_t one = history.bytes(start);
    CHECK(one > 100);
    history.add(std::string(64, 'b'), 2, start + 5s);
    CHECK(history.bytes(start + 5s) == 2 * one + 63);
    CHECK(history.bytes(start + 10s) == one + 63);
    CHECK(history.bytes(start + 15s) == 0);
}
