// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cstdint>
#include <sstream>
#include <string>

#include <sessionq/amqp_value.hpp>

using namespace sessionq;

TEST_CASE("AmqpValue: scalars, lists and maps are told apart") {
    const AmqpValue null;
    CHECK(null.is_null());
    CHECK(null.scalar()->type() == ValueType::null);
    CHECK(null.list() == nullptr);
    CHECK(null.map() == nullptr);
    const AmqpValue list{AmqpList{1, "two", AmqpValue{}}};
    CHECK_FALSE(list.is_null());
    CHECK(list.scalar() == nullptr);
    REQUIRE(list.list() != nullptr);
    CHECK(list.list()->size() == 3);
    CHECK(list.list()->at(1) == "two");
    const AmqpValue map{AmqpMap{{"a", 1}}};
    CHECK(map.list() == nullptr);
    REQUIRE(map.map() != nullptr);
    CHECK(map.map()->front().first == "a");
}

TEST_CASE("AmqpValue: a scalar converts as a property does, a list and a map do not") {
    CHECK(AmqpValue{5}.as<std::uint8_t>() == 5);
    CHECK(AmqpValue{300}.as<std::uint8_t>() == std::nullopt);
    CHECK(AmqpValue{"text"}.as<std::string>() == "text");
    CHECK(AmqpValue{}.as<bool>() == std::nullopt);
    CHECK(AmqpValue{AmqpList{5}}.as<int>() == std::nullopt);
}

TEST_CASE("AmqpValue: finds the first entry of a name, a string or a symbol") {
    const AmqpValue map{AmqpMap{{1, "number"},
                                {"a", 1},
                                {"a", 2},
                                {PropertyValue{std::string{"s"}, ValueType::symbol}, "symbol"},
                                {"list", AmqpList{true}}}};
    CHECK(map.entry<int>("a") == 1);
    CHECK(map.entry<std::string>("s") == "symbol");
    CHECK(map.entry<std::string>("a") == std::nullopt);
    CHECK(map.entry<bool>("list") == std::nullopt);
    REQUIRE(map.find("list") != nullptr);
    CHECK(map.find("list")->list()->size() == 1);
    CHECK(map.find("1") == nullptr);
    CHECK(AmqpValue{AmqpList{"a", 1}}.find("a") == nullptr);
    CHECK(AmqpValue{}.entry<int>("a") == std::nullopt);
}

TEST_CASE("AmqpValue: equal values have the same kind, and maps the same order") {
    CHECK(AmqpValue{5} == PropertyValue{std::int64_t{5}, ValueType::int32});
    CHECK(AmqpValue{} == AmqpValue{});
    CHECK_FALSE(AmqpValue{AmqpList{}} == AmqpValue{});
    CHECK_FALSE(AmqpValue{AmqpList{}} == AmqpValue{AmqpMap{}});
    CHECK_FALSE(AmqpValue{AmqpMap{{"a", 1}, {"b", 2}}} == AmqpValue{AmqpMap{{"b", 2}, {"a", 1}}});
}

TEST_CASE("AmqpValue: is encoded, decoded and printed") {
    const AmqpValue value{AmqpMap{{"a", AmqpList{1, true, AmqpValue{}}}}};
    CHECK(AmqpValue::decode(value.encoded()) == value);
    CHECK_FALSE(AmqpValue::decode(value.encoded() + "x"));
    CHECK_FALSE(AmqpValue::decode(""));
    std::ostringstream printed;
    printed << value;
    CHECK(printed.str() == R"({"a": [1, true, null]})");
    AmqpValue deep;
    for (int i = 0; i < 32; ++i) {
        deep = AmqpValue{AmqpList(1, deep)};
    }
    CHECK(AmqpValue::decode(deep.encoded()) == deep);
    CHECK_FALSE(AmqpValue::decode(AmqpValue{AmqpList(1, deep)}.encoded()));
}
