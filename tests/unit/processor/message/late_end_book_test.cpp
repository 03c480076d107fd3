// SPDX-License-Identifier: MIT
#include "processor/message/late_end_book.hpp"

#include <doctest/doctest.h>

using sessionq::detail::processor::LateEndBook;

TEST_CASE("late end: whoever is last concludes, once for each start") {
    LateEndBook book;
    for (int attempt = 0; attempt < 2; ++attempt) {
        book.starts();
        CHECK_FALSE(book.ends()); // within the start
        CHECK_FALSE(book.waits());
    }
    for (int attempt = 0; attempt < 2; ++attempt) {
        book.starts();
        CHECK(book.waits());
        CHECK(book.ends());
    }
}
