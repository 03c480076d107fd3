// SPDX-License-Identifier: MIT
#include "processor/open_failures.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace sessionq;
using processor::OpenFailures;

TEST_CASE("open failures: they count in a row, for each session by itself") {
    OpenFailures failures;
    failures.succeeded({"orders", "a"});
    CHECK(failures.failed({"orders", "a"}) == 0);
    CHECK(failures.failed({"orders", "a"}) == 1);
    CHECK(failures.failed({"orders", "b"}) == 0);
    CHECK(failures.failed({"other", "a"}) == 0);
    failures.succeeded({"orders", "a"});
    CHECK(failures.failed({"orders", "a"}) == 0);
    CHECK(failures.failed({"orders", "b"}) == 1);
}

TEST_CASE("open failures: the session that failed longest ago is forgotten where there are many") {
    OpenFailures failures;
    for (std::size_t i = 0; i < OpenFailures::most; ++i) {
        failures.failed({"orders", std::to_string(i)});
    }
    CHECK(failures.failed({"orders", "0"}) == 1); // the last by now
    CHECK(failures.failed({"orders", "more"}) == 0);
    CHECK(failures.failed({"orders", "0"}) == 2);
    CHECK(failures.failed({"orders", "1"}) == 0);
}
