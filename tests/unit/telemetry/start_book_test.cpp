// SPDX-License-Identifier: MIT
#include "telemetry/start_book.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;
using telemetry::StartBook;

namespace {

MetricPoint point_with(const char* outcome) {
    return {.attributes = {{"sessionq.outcome", outcome}}};
}

} // namespace

TEST_CASE("start book: a total that fell counts since the collection before") {
    const WallTime made{1000s};
    StartBook book{made};
    const MetricPoint completed = point_with("completed");
    CHECK(book.start("ended", completed, 5, made + 1s) == made);
    CHECK(book.start("ended", completed, 5, made + 2s) == made);
    CHECK(book.start("ended", completed, 7, made + 3s) == made);
    CHECK(book.start("ended", completed, 6, made + 4s) == made + 3s);
    CHECK(book.start("ended", completed, 8, made + 5s) == made + 3s);
    CHECK(book.start("ended", completed, 0, made + 6s) == made + 5s);
}

TEST_CASE("start book: each total counts for itself") {
    const WallTime made{1000s};
    StartBook book{made};
    (void)book.start("ended", point_with("completed"), 5, made + 1s);
    (void)book.start("ended", point_with("completed"), 1, made + 2s);
    CHECK(book.start("ended", point_with("lost"), 1, made + 3s) == made);
    CHECK(book.start("handled", point_with("completed"), 1, made + 3s) == made);
    CHECK(book.start("ended", point_with("completed"), 1, made + 3s) == made + 1s);
}
