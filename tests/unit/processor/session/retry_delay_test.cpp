// SPDX-License-Identifier: MIT
#include "processor/session/retry_delay.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;
using detail::processor::RetryDelay;
using Reading = RetryDelay::Reading;

namespace {

constexpr TimePoint retry_failed{1h};

} // namespace

TEST_CASE("retry delay: the record is read once, however many messages were delivered before") {
    RetryDelay delay;
    CHECK(delay.examine() == Reading::never);
    CHECK(delay.examine() == Reading::asked);
    CHECK(delay.examine() == Reading::asked);
    delay.known();
    CHECK(delay.examine() == Reading::known);
    CHECK(delay.examine() == Reading::known);
}

TEST_CASE("retry delay: a record that came to be known otherwise is not read") {
    RetryDelay delay;
    delay.known();
    CHECK(delay.examine() == Reading::known);
}

TEST_CASE("retry delay: reading is no writing, and the other way round") {
    RetryDelay delay;
    static_cast<void>(delay.examine());
    CHECK_FALSE(delay.is_writing());
    static_cast<void>(delay.begin(retry_failed + 1s, retry_failed));
    CHECK(delay.examine() == Reading::asked);
}

TEST_CASE("retry delay: it lasts to the latest of the instants that were given") {
    RetryDelay delay;
    CHECK(delay.begin(retry_failed + 10s, retry_failed) == 10s);
    CHECK(delay.begin(retry_failed + 5s, retry_failed + 2s) == 8s);
    CHECK(delay.begin(retry_failed + 20s, retry_failed + 4s) == 16s);
}

TEST_CASE("retry delay: once it is over it goes, and the next one is its own") {
    RetryDelay delay;
    static_cast<void>(delay.begin(retry_failed + 1h, retry_failed));
    CHECK(delay.end() == Duration::zero());
    CHECK(delay.begin(retry_failed + 5s, retry_failed) == 5s);
}

TEST_CASE("retry delay: it is written until the broker has answered to each change") {
    RetryDelay delay;
    CHECK_FALSE(delay.is_writing());
    static_cast<void>(delay.begin(retry_failed + 1s, retry_failed));
    static_cast<void>(delay.begin(retry_failed + 2s, retry_failed));
    static_cast<void>(delay.end());
    delay.written();
    delay.written();
    CHECK(delay.is_writing());
    delay.written();
    CHECK_FALSE(delay.is_writing());
    delay.written(); // of nothing
    CHECK_FALSE(delay.is_writing());
    static_cast<void>(delay.end());
    CHECK(delay.is_writing());
}
