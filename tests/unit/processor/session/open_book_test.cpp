// SPDX-License-Identifier: MIT
#include "processor/session/open_book.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace sessionq;
using detail::processor::OpenBook;

TEST_CASE("open book: they count in a row, for each session by itself") {
    OpenBook failures;
    failures.succeeded({"orders", "a"});
    CHECK(failures.failed({"orders", "a"}) == 0);
    CHECK(failures.failed({"orders", "a"}) == 1);
    CHECK(failures.failed({"orders", "b"}) == 0);
    CHECK(failures.failed({"other", "a"}) == 0);
    failures.succeeded({"orders", "a"});
    CHECK(failures.failed({"orders", "a"}) == 0);
    CHECK(failures.failed({"orders", "b"}) == 1);
}

TEST_CASE("open book: the session that failed longest ago is forgotten where there are many") {
    OpenBook failures;
    for (std::size_t i = 0; i < OpenBook::most; ++i) {
        failures.failed({"orders", std::to_string(i)});
    }
    CHECK(failures.failed({"orders", "0"}) == 1); // the last by now
    CHECK(failures.failed({"orders", "more"}) == 0);
    CHECK(failures.failed({"orders", "0"}) == 2);
    CHECK(failures.failed({"orders", "1"}) == 0);
}
