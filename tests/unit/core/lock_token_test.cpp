// SPDX-License-Identifier: MIT
#include <sessionq/lock_token.hpp>

#include <unordered_set>

#include <doctest/doctest.h>

#include "core/uuid.hpp"

using namespace sessionq;

TEST_CASE("lock token: is written as a UUID") {
    const std::string text = "00112233-4455-6677-8899-aabbccddeeff";
    const LockToken token{core::Uuid::parse(text).value().bytes};
    CHECK(token.to_string() == text);
    CHECK(token == LockToken{token});
    CHECK_FALSE(token == LockToken{});
}

TEST_CASE("lock token: is a key of unordered containers") {
    LockToken other;
    other.bytes[15] = std::byte{1};
    const std::unordered_set<LockToken> tokens{{LockToken{}, other, LockToken{}}};
    CHECK(tokens.size() == 2);
    CHECK(tokens.contains(other));
}
