// SPDX-License-Identifier: MIT
#include "processor/session/session_record.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;
using detail::processor::SessionRecord;

namespace {

const WallTime noon{std::chrono::hours{500'000}};

} // namespace

TEST_CASE("session record: what was written is read") {
    const SessionRecord record =
        SessionRecord::read(SessionRecord{.not_before = noon, .delay = 90s}.write());
    CHECK(record.not_before == noon);
    CHECK(record.delay == 90s);
}

TEST_CASE("session record: noted attempts are kept beside the delay, or alone") {
    const detail::processor::NotedAttempts noted{.sequence = -7, .begun = 3};
    const SessionRecord both = SessionRecord::read(
        SessionRecord{.not_before = noon, .delay = 90s, .attempts = noted}.write());
    CHECK(both.delay == 90s);
    CHECK(both.attempts.sequence == -7);
    CHECK(both.attempts.begun == 3);
    const SessionRecord alone = SessionRecord::read(SessionRecord{.attempts = noted}.write());
    CHECK_FALSE(alone.left(noon));
    CHECK(alone.attempts.begun == 3);
    CHECK(SessionRecord{.attempts = {.sequence = 5}}.write().empty());
    CHECK(SessionRecord::read(SessionRecord{.not_before = noon}.write()).attempts.begun == 0);
}

TEST_CASE("session record: a delay ends at its instant, and lasts no longer than it was") {
    const SessionRecord record{.not_before = noon, .delay = 10s};
    CHECK(record.left(noon - 4s) == 4s);
    CHECK(record.left(noon - 10s) == 10s);
    CHECK(record.left(noon - 1h) == 10s); // this clock is an hour behind
    CHECK(record.left(noon) == Duration::zero());
    CHECK(record.left(noon + 1h) == Duration::zero());
    CHECK_FALSE(SessionRecord{}.left(noon));
}

TEST_CASE("session record: other bytes tell nothing") {
    const std::string whole = SessionRecord{.not_before = noon, .delay = 10s}.write();
    for (std::size_t length = 0; length < whole.size(); ++length) {
        CHECK_FALSE(SessionRecord::read(std::string_view{whole}.substr(0, length)).left(noon - 1s));
    }
    std::string later = whole;
    later[0] = 2;
    CHECK_FALSE(SessionRecord::read(later).left(noon - 1s));
    std::string far = whole;
    far[1] = 0x7f;
    CHECK_FALSE(SessionRecord::read(far).left(noon - 1s));
    std::string negative = whole;
    negative[9] = '\xff';
    CHECK_FALSE(SessionRecord::read(negative).left(noon - 1s));
    CHECK(SessionRecord::read(whole + "more").left(noon - 1s) == 1s); // a later version appends
}
