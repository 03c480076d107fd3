// SPDX-License-Identifier: MIT
#include "telemetry/utf8_text.hpp"

#include <doctest/doctest.h>

using sessionq::telemetry::utf8_text;

TEST_CASE("UTF-8: text stays, each bad byte becomes U+FFFD") {
    CHECK(utf8_text("").empty());
    CHECK(utf8_text("ada \xC3\xA4 \xE2\x82\xAC") == "ada \xC3\xA4 \xE2\x82\xAC");
    CHECK(utf8_text("a\xFF\xFE"
                    "b\xC3") == "a\xEF\xBF\xBD\xEF\xBF\xBD"
                                "b\xEF\xBF\xBD");
}
