// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tools/nearest_word.hpp"

using namespace sessionq::tools;

TEST_CASE("nearest_word: letters too many, too few, other ones, and two that changed places") {
    const std::vector<std::string> words{"send", "receive", "schedule", "--session",
                                         "--connection"};
    CHECK(nearest_word("recieve", words) == "receive");
    CHECK(nearest_word("recive", words) == "receive");
    CHECK(nearest_word("receivee", words) == "receive");
    CHECK(nearest_word("sned", words) == "send");
    CHECK(nearest_word("--sesion", words) == "--session");
    CHECK(nearest_word("--conection", words) == "--connection");
    CHECK(nearest_word("--conecton", words) == "--connection");
    CHECK(nearest_word("send", words) == "send");
}

TEST_CASE("nearest_word: what is not alike has none") {
    const std::vector<std::string> words{"send", "receive"};
    CHECK(nearest_word("", words).empty());
    CHECK(nearest_word("xy", words).empty());
    CHECK(nearest_word("bend over", words).empty());
    CHECK(nearest_word("perceived", words) == "receive"); // three of nine
    CHECK(nearest_word(std::string(65, 's'), {std::string(65, 's')}).empty());
    CHECK(nearest_word("send", {}).empty());
    CHECK(did_you_mean("sent", words) == "; did you mean 'send'?");
    CHECK(did_you_mean("nothing", words).empty());
}
