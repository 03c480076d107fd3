// SPDX-License-Identifier: MIT
#include "core/random.hpp"

#include <doctest/doctest.h>

#include <array>

using sessionq::core::Random;

TEST_CASE("random: equal seeds give equal numbers and different seeds give different ones") {
    Random a{1};
    Random same{1};
    Random other{2};
    int equal = 0;
    for (int i = 0; i < 100; ++i) {
        const std::uint64_t value = a.next();
        CHECK(value == same.next());
        equal += value == other.next() ? 1 : 0;
    }
    CHECK(equal == 0);
}

TEST_CASE("random: numbers are roughly uniform within their bounds") {
    Random random{9};
    CHECK(random.below(0) == 0);
    CHECK(random.below(1) == 0);
    std::array<int, 10> counts{};
    double sum = 0;
    for (int i = 0; i < 10'000; ++i) {
        ++counts.at(random.below(10));
        const double fraction = random.fraction();
        REQUIRE(fraction >= 0);
        REQUIRE(fraction < 1);
        sum += fraction;
    }
    for (const int count : counts) {
        CHECK(count > 850);
        CHECK(count < 1150);
    }
    CHECK(sum / 10'000 == doctest::Approx(0.5).epsilon(0.05));
}
