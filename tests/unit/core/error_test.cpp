// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <sessionq/error.hpp>

using namespace sessionq;

TEST_CASE("error: our text and the peer's text are kept apart") {
    const Failure failure{.code = Errc::lock_lost,
                          .detail = "session 'a'",
                          .peer_condition = "x:y",
                          .peer_text = "gone"};
    CHECK(failure.to_string() == "the lock is lost: session 'a' [peer: x:y: gone]");
    const Error error{failure};
    CHECK(error.code() == Errc::lock_lost);
    CHECK_FALSE(error.retryable());
}

TEST_CASE("error: every cause has a name and a text") {
    for (int value = 1; value <= static_cast<int>(Errc::internal_error); ++value) {
        CAPTURE(value);
        CHECK(to_string(static_cast<Errc>(value)) != "unknown");
        CHECK(make_error_code(static_cast<Errc>(value)).message() != "unknown error");
    }
    CHECK(to_string(static_cast<Errc>(0)) == "unknown");
}
