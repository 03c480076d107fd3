// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tools/sessionq/dead_letter_filter.hpp"

using namespace sessionq;
using namespace sessionq::cli;
using namespace std::chrono;

namespace {

ReceivedMessage letter(Message message, std::optional<DeadLetterInfo> why = {}) {
    return {std::make_shared<const DecodedContent>(std::move(message)),
            {.enqueued_time = WallTime{} + 10s, .dead_letter = std::move(why)}};
}

} // namespace

TEST_CASE("DeadLetterFilter: what is unset holds for all") {
    CHECK(DeadLetterFilter{}.matches(letter({}), WallTime{}));
}

TEST_CASE("DeadLetterFilter: session, reason and age must all match") {
    const auto ada = letter(Message::text("ada", "x"), DeadLetterInfo{"Bad", "very"});
    CHECK(DeadLetterFilter{.session = "ada"}.matches(ada, {}));
    CHECK_FALSE(DeadLetterFilter{.session = "ben"}.matches(ada, {}));
    CHECK_FALSE(DeadLetterFilter{.session = ""}.matches(letter({}), {})); // no session is not ""
    CHECK(DeadLetterFilter{.session = ""}.matches(letter(Message::text("", "x")), {}));
    CHECK(DeadLetterFilter{.reason = "Bad"}.matches(ada, {}));
    CHECK_FALSE(DeadLetterFilter{.reason = "bad"}.matches(ada, {}));
    CHECK_FALSE(DeadLetterFilter{.reason = "Bad"}.matches(letter({}), {}));
    CHECK(DeadLetterFilter{.older_than = 5s}.matches(ada, WallTime{} + 16s));
    CHECK_FALSE(DeadLetterFilter{.older_than = 5s}.matches(ada, WallTime{} + 15s));
    CHECK_FALSE(DeadLetterFilter{.older_than = 0s}.matches(ada, WallTime{})); // its clock is ahead
    CHECK_FALSE(DeadLetterFilter{.session = "ada", .reason = "Other"}.matches(ada, {}));
}
