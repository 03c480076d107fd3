// SPDX-License-Identifier: MIT
#include "core/id_check.hpp"

#include <doctest/doctest.h>

#include <string>

using sessionq::core::id_fault;
using sessionq::core::is_id;

namespace {

std::string times(int count, const char* text) {
    std::string made;
    for (int i = 0; i < count; ++i) {
        made += text;
    }
    return made;
}

} // namespace

TEST_CASE("id: 128 characters are allowed, however many bytes each takes") {
    for (const char* character : {"x", "\xc3\xbc", "\xe2\x82\xac", "\xf0\x9f\x98\x80"}) {
        CHECK(is_id(times(128, character)));
        CHECK_FALSE(is_id(times(129, character)));
    }
    CHECK(is_id(""));
}

TEST_CASE("id: must be UTF-8, and what is wrong is told") {
    CHECK(id_fault("Zo\xc3\xab").empty());
    CHECK(id_fault("Zo\xeb") == "is not valid UTF-8");
    CHECK(id_fault(times(129, "x")) == "is longer than 128 characters");
    CHECK_FALSE(is_id("\xff"));
}
