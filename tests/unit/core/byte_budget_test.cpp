// SPDX-License-Identifier: MIT
#include "core/byte_budget.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using core::ByteBudget;

TEST_CASE("byte budget: R23: a message counts a MiB until sizes are known") {
    ByteBudget budget{std::size_t{64} << 20U};
    CHECK(budget.affordable() == 64);
    for (int i = 0; i < 200; ++i) {
        budget.arrived(1000);
        budget.gone(1000);
    }
    CHECK(budget.affordable() > 65'000);
}

TEST_CASE("byte budget: R23: what was asked for leaves the budget") {
    ByteBudget budget{std::size_t{16} << 10U, 1024};
    CHECK(budget.affordable() == 16);
    budget.expect(10);
    CHECK(budget.affordable() == 6);
    budget.expect(6);
    CHECK(budget.affordable() == 0);
}

TEST_CASE("byte budget: R23: sizes are learnt, what is buffered leaves the budget and comes back") {
    ByteBudget budget{std::size_t{1} << 20U, 1024};
    budget.expect(100);
    for (int i = 0; i < 100; ++i) {
        budget.unexpect(1);
        budget.arrived(10'000);
    }
    CHECK(budget.expected() == 0);
    CHECK(budget.buffered_bytes() == 1'000'000);
    CHECK(budget.affordable() > 1);
    CHECK(budget.affordable() <= 6); // 48 KB are left
    for (int i = 0; i < 100; ++i) {
        budget.gone(10'000);
    }
    CHECK(budget.buffered_bytes() == 0);
    CHECK(budget.affordable() > 50);
}

TEST_CASE("byte budget: R23: more than the budget leaves room for nothing") {
    ByteBudget budget{1000, 1024};
    budget.arrived(5000);
    CHECK(budget.affordable() == 0);
}

TEST_CASE("byte budget: giving back more than there is leaves nothing") {
    ByteBudget budget{std::size_t{16} << 10U, 1024};
    budget.expect(10);
    budget.unexpect(1000);
    CHECK(budget.expected() == 0);
    budget.gone(5000);
    CHECK(budget.buffered_bytes() == 0);
}

TEST_CASE("byte budget: messages without bytes do not upset it") {
    ByteBudget budget{std::size_t{64} << 10U, 1024};
    for (int i = 0; i < 500; ++i) {
        budget.arrived(0);
    }
    CHECK(budget.affordable() == 65'536); // a message counts a byte at least
}
