// SPDX-License-Identifier: MIT
#include "core/text_check.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <vector>

using namespace sessionq;
using core::text_fault;

TEST_CASE("text check: names and texts of properties must be UTF-8, bytes may be anything") {
    CHECK(text_fault({}).empty());
    CHECK(text_fault({{"\xc3\xa4", std::string{"\xe2\x82\xac"}},
                      {"bytes", std::vector<std::byte>{std::byte{0xff}}},
                      {"number", std::int64_t{1}}})
              .empty());
    CHECK(text_fault({{"\xff", true}}) == ": the name '\xef\xbf\xbd' is not valid UTF-8");
    CHECK(text_fault({{"k", std::string{"\xff"}}})
              .starts_with(": the text of 'k' is not valid UTF-8"));
}
