// SPDX-License-Identifier: MIT
#include <limits>

#include <doctest/doctest.h>

#include <sessionq/error.hpp>
#include <sessionq/message.hpp>

#include "support/code_of.hpp"

using namespace sessionq;
using namespace std::chrono_literals;

TEST_CASE("PropertyValue: knows its type, and that of a narrower one that it was made with") {
    CHECK(PropertyValue{}.type() == ValueType::null);
    CHECK(PropertyValue{true}.type() == ValueType::boolean);
    CHECK(PropertyValue{5}.type() == ValueType::int64);
    CHECK(PropertyValue{std::uint64_t{5}}.type() == ValueType::uint64);
    CHECK(PropertyValue{0.5}.type() == ValueType::float64);
    CHECK(PropertyValue{"text"}.type() == ValueType::string);
    CHECK(PropertyValue{WallTime{}}.type() == ValueType::timestamp);
    CHECK(PropertyValue{FarTime{253'402'300'799'999ms}}.type() == ValueType::timestamp);
    CHECK(PropertyValue{std::vector<std::byte>{}}.type() == ValueType::binary);
    CHECK(PropertyValue{U'x'}.type() == ValueType::character);
    CHECK(PropertyValue{Uuid{}}.type() == ValueType::uuid);
    CHECK(PropertyValue{*Decimal::parse("1", Decimal::Width::bits32)}.type() ==
          ValueType::decimal32);
    CHECK(PropertyValue{*Decimal::parse("1", Decimal::Width::bits64)}.type() ==
          ValueType::decimal64);
    CHECK(PropertyValue{Decimal{}}.type() == ValueType::decimal128);
    CHECK(PropertyValue{5s}.type() == ValueType::time_span);
    CHECK(PropertyValue{Uri{"a:b"}}.type() == ValueType::uri);
    CHECK(PropertyValue{DateTimeOffset{WallTime{}}}.type() == ValueType::date_time_offset);
    CHECK(PropertyValue{EncodedValue{"\x45"}}.type() == ValueType::encoded);
    const PropertyValue narrow{std::int64_t{5}, ValueType::int32};
    CHECK(narrow.type() == ValueType::int32);
    CHECK(std::get<std::int64_t>(narrow) == 5);
    CHECK(narrow == PropertyValue{5});
    CHECK(PropertyValue{1.5, ValueType::float32}.type() == ValueType::float32);
    CHECK(PropertyValue{std::string{"s"}, ValueType::symbol}.type() == ValueType::symbol);
}

TEST_CASE("PropertyValue: a type that the value does not fit is refused") {
    const auto code = [](PropertyValue::Held value, ValueType type) {
        return test::code_of([&] { static_cast<void>(PropertyValue{std::move(value), type}); });
    };
    CHECK(code(std::int64_t{128}, ValueType::int8) == Errc::invalid_argument);
    CHECK(code(std::int64_t{-1}, ValueType::uint32) == Errc::invalid_argument);
    CHECK(code(std::int64_t{1}, ValueType::float32) == Errc::invalid_argument);
    CHECK(code(0.1, ValueType::float32) == Errc::invalid_argument);
    CHECK(code(1e300, ValueType::float32) == Errc::invalid_argument);
    CHECK(code(std::string{"x"}, ValueType::uuid) == Errc::invalid_argument);
    static_cast<void>(PropertyValue{std::numeric_limits<double>::infinity(), ValueType::float32});
    static_cast<void>(PropertyValue{std::int64_t{-128}, ValueType::int8});
}

TEST_CASE("PropertyValue: another value has its own type again") {
    PropertyValue value{std::int64_t{5}, ValueType::int8};
    value = 0.5;
    CHECK(value.type() == ValueType::float64);
    value = PropertyValue{std::int64_t{5}, ValueType::int8};
    value.emplace<std::int64_t>(1000); // no int8 any more
    CHECK(value.type() == ValueType::int64);
}

TEST_CASE("DateTimeOffset: converts to and from the times that WallTime holds") {
    const WallTime time{1'767'322'985s};
    CHECK(DateTimeOffset{time}.since == TimeSpan{639'029'197'850'000'000});
    CHECK(DateTimeOffset{time}.time() == time);
    CHECK_FALSE(DateTimeOffset{TimeSpan{0}}.time());
    CHECK_FALSE(DateTimeOffset{TimeSpan{3'155'378'975'999'999'999}}.time());
}
