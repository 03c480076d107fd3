// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tools/wrapped_text.hpp"

using sessionq::tools::wrapped;

TEST_CASE("wrapped: long lines break between words, below the description") {
    CHECK(wrapped("", 20, 8) == "");
    CHECK(wrapped("short\n\nlines\n", 20, 8) == "short\n\nlines\n");
    CHECK(wrapped("one two three four five six", 12, 8) == "one two\nthree four\nfive six");
    CHECK(wrapped("  --a   one two three four five", 20, 8) ==
          "  --a   one two\n        three four\n        five");
    CHECK(wrapped("  --a   one two\n", 15, 8) == "  --a   one two\n");
    CHECK(wrapped("  --a   one two\n", 14, 8) == "  --a   one\n        two\n");
}

TEST_CASE("wrapped: a word that is too long stays whole") {
    CHECK(wrapped("aaaaaaaaaaaaaaaaaaaaaaaa b", 12, 8) == "aaaaaaaaaaaaaaaaaaaaaaaa b");
    CHECK(wrapped("  --a   bbbbbbbbbbbbbbbbbbbbb c", 12, 8) == "  --a   bbbbbbbbbbbbbbbbbbbbb c");
}
