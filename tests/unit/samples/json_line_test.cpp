// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <array>
#include <string>

#include "replay/json_line.hpp"

using namespace replay;

namespace {

/// The value of field "k", or "! COMPLAINT".
std::string k_of(std::string_view line) {
    const std::array<std::string, 1> names{"k"};
    std::array<std::string, 1> values{};
    const std::string complaint = read_json_line(line, names, values);
    return complaint.empty() ? values[0] : "! " + complaint;
}

} // namespace

TEST_CASE("json line: strings as they are, numbers and booleans as their text") {
    CHECK(k_of(R"({"k":"a\"bé"})") == "a\"b\u00e9");
    CHECK(k_of(R"({"k":42})") == "42");
    CHECK(k_of(R"({"k":-7})") == "-7");
    CHECK(k_of(R"({"k":1.50})") == "1.50");
    CHECK(k_of(R"({"k":true})") == "true");
    CHECK(k_of(R"({"k":""})") == "");
}

TEST_CASE("json line: only the top level counts, and the last of two") {
    CHECK(k_of(R"({"a":{"k":1},"b":[{"k":2}],"k":"here"})") == "here");
    CHECK(k_of(R"({"k":1,"k":2})") == "2");
    CHECK(k_of(R"({"a":{"k":1}})") == "! no field 'k'");
    CHECK(k_of(R"({"a":[1,"k",null],"k":3})") == "3");
}

TEST_CASE("json line: a field that cannot be an id is refused") {
    CHECK(k_of(R"({"k":null})") == "! field 'k' is null; expected a string, number or boolean");
    CHECK(k_of(R"({"k":{"a":1}})") ==
          "! field 'k' is an object; expected a string, number or boolean");
    CHECK(k_of(R"({"k":[]})") == "! field 'k' is an array; expected a string, number or boolean");
}

TEST_CASE("json line: what is no object or no JSON is refused") {
    CHECK(k_of("[1]") == "! not a JSON object");
    CHECK(k_of("7") == "! not a JSON object");
    CHECK(k_of("null") == "! not a JSON object");
    CHECK(k_of(R"({"k":1)") == "! broken JSON at column 7");
    CHECK(k_of(R"({"k":1} {"k":2})") == "! broken JSON at column 9");
    CHECK(k_of("{\"k\":\"\xff\"}").starts_with("! broken JSON"));
    CHECK(k_of("{}") == "! no field 'k'");
}

TEST_CASE("json line: several fields at once, the first missing one is named") {
    const std::array<std::string, 2> names{"k", "s"};
    std::array<std::string, 2> values{};
    CHECK(read_json_line(R"({"s":"state","k":1})", names, values).empty());
    CHECK(values == std::array<std::string, 2>{"1", "state"});
    CHECK(read_json_line(R"({"k":1})", names, values) == "no field 's'");
}
