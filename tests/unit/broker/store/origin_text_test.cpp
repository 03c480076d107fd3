// SPDX-License-Identifier: MIT
#include "broker/store/origin_text.hpp"

#include <doctest/doctest.h>

using namespace sessionq::broker;

TEST_CASE("origin text: what was written is read, and what follows is left") {
    CHECK(OriginText{}.write().empty());
    for (const char* source : {"", "orders", "news/Subscriptions/a, b "}) {
        const std::string text =
            OriginText{.first_sequence = 77, .source = source}.write() + "5 6 ";
        std::string_view rest = text;
        const OriginText read = OriginText::read(rest);
        CHECK(read.first_sequence == 77);
        CHECK(read.source == source);
        CHECK(rest == "5 6 ");
    }
}

TEST_CASE("origin text: other text tells nothing, and stays") {
    for (const std::string_view text :
         {"", "5 6 ", "=", "=7", "=7,", "=7,x, ", "=7,3,ab", "=7,3,abc",
          "=7,99999999999999999999,a ", "=x,1,a ", "=7,-1,a "}) {
        CAPTURE(text);
        std::string_view rest = text;
        CHECK(OriginText::read(rest).first_sequence == 0);
        CHECK(rest == text);
    }
}
