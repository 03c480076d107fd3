// SPDX-License-Identifier: MIT
#include "processor/slots/refusal_book.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace sessionq::detail::processor;
using namespace std::chrono_literals;

namespace {

constexpr TimePoint begin{1h};
const Failure busy{.code = Errc::server_busy};
const Failure late{.code = Errc::timeout};

} // namespace

TEST_CASE("refusal book: a row of refusals counts from the first") {
    RefusalBook book{2};
    book.failed(1, busy, begin);
    book.failed(1, {.code = Errc::quota_exceeded}, begin + 3s);
    CHECK(book.at(0) == nullptr);
    REQUIRE(book.at(1) != nullptr);
    CHECK(book.at(1)->since == begin);
    CHECK(book.at(1)->failure.code == Errc::quota_exceeded);
    book.answered(1);
    CHECK(book.at(1) == nullptr);
}

TEST_CASE("refusal book: it is over when the broker lets an accept wait") {
    RefusalBook book{1};
    book.failed(0, busy, begin);
    CHECK(book.look(0, std::nullopt, begin + 1h) != nullptr); // backing off
    CHECK(book.look(0, begin + 5s, begin + 5999ms) != nullptr);
    CHECK(book.look(0, begin + 5s, begin + 6s) == nullptr);
    CHECK(book.at(0) == nullptr);
}

TEST_CASE("refusal book: waiting says nothing where the broker does not answer") {
    RefusalBook book{1};
    book.unanswered(0, late, begin);
    CHECK(book.look(0, begin, begin + 1h) != nullptr);
    CHECK_FALSE(book.at(0)->is_final());
    book.unanswered(0, late, begin + 65s);
    CHECK(book.at(0)->since == begin);
    book.failed(0, busy, begin + 70s); // it answers
    CHECK(book.at(0)->since == begin + 70s);
}

TEST_CASE("refusal book: a connection that was not made in time is a refusal like others") {
    RefusalBook book{1};
    book.failed(0, late, begin);
    CHECK(book.look(0, begin + 1s, begin + 2s) == nullptr);
}

TEST_CASE("refusal book: what no retry mends is final") {
    RefusalBook book{1};
    book.failed(0, {.code = Errc::entity_not_found}, begin);
    CHECK(book.at(0)->is_final());
    book.failed(0, busy, begin);
    CHECK_FALSE(book.at(0)->is_final());
}
