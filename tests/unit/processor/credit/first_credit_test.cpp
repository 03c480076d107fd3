// SPDX-License-Identifier: MIT
#include "processor/credit/first_credit.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;
using detail::processor::first_credit;

namespace {

core::ByteBudget budget(std::size_t messages) { return core::ByteBudget{messages * 1024, 1024}; }

} // namespace

TEST_CASE("first credit: the window that a session starts with, drained where it rolls at once") {
    const auto rolls = first_credit({}, {}, 1, 8, false, budget(1 << 16));
    CHECK(rolls.count == 32);
    CHECK(rolls.drain);
    const auto waits =
        first_credit({}, {.idle_timeout = 1s, .prefetch = 5}, 1, 8, false, budget(1 << 16));
    CHECK(waits.count == 5);
    CHECK_FALSE(waits.drain);
    CHECK(first_credit({}, {.idle_timeout = 1s}, 100, 8, false, budget(1 << 16)).count == 200);
}

TEST_CASE("first credit: none before on_session_open, and none where messages would be lost") {
    CHECK(first_credit({}, {.idle_timeout = 1s}, 1, 8, true, budget(1 << 16)).count == 0);
    CHECK(first_credit({.receive_and_delete = true}, {.idle_timeout = 1s}, 1, 8, false,
                       budget(1 << 16))
              .count == 0);
}

TEST_CASE("first credit: no more than a turn, and all slots no more than a quarter of the budget") {
    CHECK(first_credit({.max_messages_per_turn = 3}, {.idle_timeout = 1s}, 1, 8, false,
                       budget(1 << 16))
              .count == 3);
    CHECK(first_credit({}, {.idle_timeout = 1s}, 1, 8, false, budget(320)).count == 10);
    CHECK(first_credit({}, {.idle_timeout = 1s}, 1, 8, false, budget(16)).count == 1);
    CHECK(first_credit({}, {.idle_timeout = 1s}, 1, 0, false, budget(64)).count == 16);
}
