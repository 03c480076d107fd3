// SPDX-License-Identifier: MIT
#include "processor/default_workers.hpp"

#include <doctest/doctest.h>

using sessionq::detail::processor::calls_at_once;
using sessionq::detail::processor::default_workers;

TEST_CASE("default workers: as many as handlers may run at once, up to 64") {
    CHECK(default_workers(8, 1, 0) == 8);
    CHECK(default_workers(8, 4, 0) == 32);
    CHECK(default_workers(8, 4, 5) == 5);
    CHECK(default_workers(8, 1, 100) == 8);
    CHECK(default_workers(1'000, 1, 0) == 64);
}

TEST_CASE("default workers: an executor gets as many works as handlers may run at once") {
    CHECK(calls_at_once(8, 1, 0) == 8);
    CHECK(calls_at_once(1'000, 2, 0) == 2'000);
    CHECK(calls_at_once(1'000, 2, 300) == 300);
    CHECK(calls_at_once(100'000, 10'000, 0) == 1'000'000'000);
}
