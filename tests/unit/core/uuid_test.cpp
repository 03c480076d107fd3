// SPDX-License-Identifier: MIT
#include "core/uuid.hpp"

#include <unordered_set>

#include <doctest/doctest.h>

#include <sessionq/uuid.hpp>

using namespace sessionq;

TEST_CASE("uuid: is version 4, variant 10, and equal for equal seeds") {
    core::Random random{5};
    core::Random same{5};
    for (int i = 0; i < 100; ++i) {
        const core::Uuid made = core::Uuid::make(random);
        CHECK(made == core::Uuid::make(same));
        const std::string text = made.to_string();
        REQUIRE(text.size() == 36);
        CHECK(text[14] == '4');
        CHECK(std::string{"89ab"}.find(text[19]) != std::string::npos);
        CHECK(core::Uuid::parse(text) == made);
    }
    CHECK(core::Uuid::make() != core::Uuid::make());
}

TEST_CASE("uuid: parses either case and rejects any other text") {
    const auto lower = core::Uuid::parse("0123abcd-4567-4e8f-9abc-0123456789ab");
    REQUIRE(lower);
    CHECK(core::Uuid::parse("0123ABCD-4567-4E8F-9ABC-0123456789AB") == lower);
    CHECK(lower->to_string() == "0123abcd-4567-4e8f-9abc-0123456789ab");
    for (const char* bad :
         {"", "0123abcd-4567-4e8f-9abc-0123456789a", "0123abcd-4567-4e8f-9abc-0123456789abc",
          "0123abcd04567-4e8f-9abc-0123456789ab", "0123abcd-4567-4e8f-9abc-0123456789ag",
          "-123abcd-4567-4e8f-9abc-0123456789ab"}) {
        CAPTURE(bad);
        CHECK_FALSE(core::Uuid::parse(bad));
    }
}

TEST_CASE("core::Uuid: converts to and from two words, the most significant byte first") {
    const auto made = core::Uuid::of(0x0011223344556677U, 0x8899aabbccddeeffU);
    CHECK(made.to_string() == "00112233-4455-6677-8899-aabbccddeeff");
    CHECK(made.high() == 0x0011223344556677U);
    CHECK(made.low() == 0x8899aabbccddeeffU);
}

TEST_CASE("Uuid: is a key of unordered containers") {
    sessionq::Uuid other;
    other.bytes[0] = std::byte{1};
    const std::unordered_set<sessionq::Uuid> uuids{{sessionq::Uuid{}, other, sessionq::Uuid{}}};
    CHECK(uuids.size() == 2);
    CHECK(uuids.contains(other));
    CHECK(std::hash<sessionq::Uuid>{}(sessionq::Uuid{}) ==
          std::hash<sessionq::Uuid>{}(sessionq::Uuid{}));
    CHECK(std::hash<sessionq::Uuid>{}(sessionq::Uuid{}) != std::hash<sessionq::Uuid>{}(other));
}
