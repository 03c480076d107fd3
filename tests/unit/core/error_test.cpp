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

TEST_CASE("error: a cause equals the condition of the standard that means the same") {
    CHECK(Errc::invalid_argument == std::errc::invalid_argument);
    CHECK(Errc::invalid_option == std::errc::invalid_argument);
    CHECK(Errc::not_supported == std::errc::not_supported);
    CHECK(Errc::timeout == std::errc::timed_out);
    CHECK(Errc::cancelled == std::errc::operation_canceled);
    CHECK(Errc::unauthorized == std::errc::permission_denied);
    CHECK(Errc::message_too_large == std::errc::message_size);
    CHECK(Errc::connection_lost == std::errc::connection_reset);
    CHECK(Errc::connection_refused == std::errc::connection_refused);
    CHECK(Errc::protocol_error == std::errc::protocol_error);
    CHECK(Errc::timeout != std::errc::operation_canceled);
    CHECK(Error{Errc::timeout, "t"}.code() == std::errc::timed_out);
    CHECK(Error{Errc::timeout, "t"}.code() == Errc::timeout);
    CHECK(Error{Errc::invalid_option, "o"}.code() != Errc::invalid_argument);
}

TEST_CASE("error: a cause of sessionq alone equals no condition of the standard") {
    // The numbers of causes are not those of errno.
    for (int value = 1; value <= static_cast<int>(Errc::internal_error); ++value) {
        CAPTURE(value);
        CHECK(make_error_code(static_cast<Errc>(value)) !=
              std::error_condition{value, std::generic_category()});
    }
    const std::error_code lost = make_error_code(Errc::lock_lost);
    CHECK(lost.default_error_condition().category() == error_category());
    CHECK(lost.default_error_condition().value() == static_cast<int>(Errc::lock_lost));
}
