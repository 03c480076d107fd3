// SPDX-License-Identifier: MIT
#include "client/browsing/ask_again.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;
using detail::client::AskAgain;

TEST_CASE("ask again: requests are 50 ms apart, then twice that, up to a second") {
    AskAgain spacing;
    TimePoint asked{1h};
    for (const auto expected : {50ms, 100ms, 200ms, 400ms, 800ms, 1000ms, 1000ms}) {
        CHECK(spacing.next(asked) == asked + expected);
        asked += expected;
    }
}

TEST_CASE("ask again: a broker that waited for a second or longer is asked again at once") {
    AskAgain spacing;
    const TimePoint asked{1h};
    for (int i = 0; i < 100; ++i) {
        CHECK(spacing.next(asked) <= asked + 1s); // the answer came then, or later
    }
}
