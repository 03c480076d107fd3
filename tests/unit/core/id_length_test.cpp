#include "core/id_length.hpp"

#include <doctest/doctest.h>

#include <string>

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

TEST_CASE("id_length: 128 characters are allowed, however many bytes each takes") {
    for (const char* character : {"x", "\xc3\xbc", "\xe2\x82\xac", "\xf0\x9f\x98\x80"}) {
        CHECK(is_id(times(128, character)));
        CHECK_FALSE(is_id(times(129, character)));
    }
    CHECK(is_id(""));
}
