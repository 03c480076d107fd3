// SPDX-License-Identifier: MIT
#include "core/session_id.hpp"

#include <doctest/doctest.h>

#include <unordered_set>

using namespace sessionq::core;

TEST_CASE("session id: R29: ids that differ in case only are one session") {
    const std::pair<const char*, const char*> same[] = {
        {"", ""},
        {"Order-A", "oRDER-a"},
        {"a1_z", "A1_Z"},
        {"\u00c4rger", "\u00e4RGER"},  // Ä and ä
        {"\u0394\u0395\u03a3", "δεσ"}, // Greek
        {"\u0394\u0395\u03a3", "δες"}, // with its other small sigma
        {"ЗАКАЗ", "заказ"},            // Cyrillic
        {"\u00ff", "\u0178"},          // ÿ and Ÿ: of as many bytes
        {"\u0250", "\u2c6f"},          // of 2 and of 3 bytes
        {"\U00010428", "\U00010400"},  // Deseret
        {"\u1f80", "\u1f88"},          // whose full upper case has two characters
        {"x\xff", "X\xff"},            // not UTF-8: the byte stays
    };
    const SessionIdHash hash;
    for (const auto& [left, right] : same) {
        CAPTURE(left);
        CHECK(is_same_session(left, right));
        CHECK(is_same_session(right, left));
        CHECK(fold_session_id(left) == fold_session_id(right));
        CHECK(hash(left) == hash(right));
    }
    CHECK(fold_session_id("order-\u00e4") == "ORDER-\u00c4");
}

TEST_CASE("session id: all other ids are different sessions") {
    const std::pair<const char*, const char*> other[] = {
        {"a", ""},
        {"a", "ab"},
        {"a", "b"},
        {"[", "{"}, // as far apart as letters of either case
        {"@", "`"},
        {"i", "\u0131"},      // the dotless i: nothing becomes ASCII
        {"s", "\u017f"},      // the long s
        {"k", "\u212a"},      // the Kelvin sign
        {"ss", "\u00df"},     // no letter becomes two
        {"\u00f7", "\u00d7"}, // division and multiplication, among letters
        {"\xe4", "\u00e4"},   // a byte that is not UTF-8
    };
    for (const auto& [left, right] : other) {
        CAPTURE(left);
        CHECK_FALSE(is_same_session(left, right));
        CHECK(fold_session_id(left) != fold_session_id(right));
    }
}

TEST_CASE("session id: a set finds an id in another case, and folding twice changes nothing") {
    std::unordered_set<std::string, SessionIdHash, SessionIdEqual> sessions{"Ada", "ben"};
    CHECK(sessions.contains("aDA"));
    CHECK_FALSE(sessions.insert("BEN").second);
    for (std::uint32_t code = 1; code < 0x800; ++code) {
        const std::string id = code < 0x80 ? std::string(1, static_cast<char>(code))
                                           : std::string{static_cast<char>(0xc0U | code >> 6U),
                                                         static_cast<char>(0x80U | (code & 0x3fU))};
        const std::string folded = fold_session_id(id);
        CHECK(fold_session_id(folded) == folded);
        CHECK(is_same_session(id, folded));
    }
}
