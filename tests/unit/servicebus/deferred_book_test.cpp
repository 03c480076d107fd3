// SPDX-License-Identifier: MIT
#include "servicebus/deferred_book.hpp"

#include <doctest/doctest.h>

using sessionq::detail::servicebus::DeferredBook;

TEST_CASE("deferred book: a tag gives its lock token once; other tags are of the link") {
    DeferredBook book;
    const sessionq::core::Uuid first = sessionq::core::Uuid::make();
    const sessionq::core::Uuid second = sessionq::core::Uuid::make();
    const auto one = book.add(first);
    const auto two = book.add(second);
    CHECK(one != two);
    CHECK(one % 2 == 1);
    CHECK(two % 2 == 1);
    CHECK_FALSE(book.take(one - 1));
    CHECK(book.take(two) == second);
    CHECK_FALSE(book.take(two));
    CHECK(book.take(one) == first);
    CHECK(book.add(first) != one); // tags are not used again
}
