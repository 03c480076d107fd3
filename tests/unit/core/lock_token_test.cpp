// SPDX-License-Identifier: MIT
#include <sessionq/lock_token.hpp>

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
