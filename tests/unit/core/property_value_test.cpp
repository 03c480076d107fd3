// SPDX-License-Identifier: MIT
#include <array>
#include <limits>
#include <type_traits>

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
    CHECK(PropertyValue{sessionq::Uuid{}}.type() == ValueType::uuid);
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

TEST_CASE("PropertyValue: takes every integer and floating type, whatever its width") {
    const auto signed_of = [](auto number) {
        const PropertyValue made{number};
        CHECK(made.type() == ValueType::int64);
        return std::get<std::int64_t>(made);
    };
    const auto unsigned_of = [](auto number) {
        const PropertyValue made{number};
        CHECK(made.type() == ValueType::uint64);
        return std::get<std::uint64_t>(made);
    };
    CHECK(signed_of(std::int8_t{-5}) == -5);
    CHECK(signed_of(short{-5}) == -5);
    CHECK(signed_of(-5) == -5);
    CHECK(signed_of(-5L) == -5);
    CHECK(signed_of(-5LL) == -5);
    CHECK(unsigned_of(std::uint8_t{5}) == 5);
    CHECK(unsigned_of(std::uint16_t{5}) == 5);
    CHECK(unsigned_of(5U) == 5);
    CHECK(unsigned_of(5UL) == 5);
    CHECK(unsigned_of(5ULL) == 5);
    CHECK(unsigned_of(sizeof(int)) == sizeof(int));
    CHECK(std::get<double>(PropertyValue{0.5F}) == 0.5);
    CHECK(PropertyValue{0.5F}.type() == ValueType::float64);
}

TEST_CASE("PropertyValue: takes texts, bytes and times in their usual forms") {
    const std::string text = "text";
    CHECK(PropertyValue{text.c_str()} == PropertyValue{text});
    CHECK(PropertyValue{std::string_view{text}} == PropertyValue{text});
    CHECK(PropertyValue{"text"} == PropertyValue{text});
    const std::array bytes{std::byte{1}, std::byte{2}};
    CHECK(PropertyValue{std::span<const std::byte>{bytes}} ==
          PropertyValue{std::vector<std::byte>{bytes.begin(), bytes.end()}});
    CHECK(PropertyValue{std::span{bytes}}.type() == ValueType::binary);
    using namespace std::chrono;
    CHECK(PropertyValue{sys_seconds{5s}} == PropertyValue{WallTime{5s}});
    CHECK(PropertyValue{sys_days{2026y / January / 2}} == PropertyValue{WallTime{1'767'312'000s}});
    CHECK(PropertyValue{time_point<system_clock, duration<double>>{duration<double>{0.5}}} ==
          PropertyValue{WallTime{500ms}});
    CHECK(PropertyValue{sys_days{9999y / December / 31}} ==
          PropertyValue{FarTime{253'402'214'400s}});
    CHECK(PropertyValue{sys_days{1500y / January / 1}}.type() == ValueType::timestamp);
    CHECK(std::holds_alternative<FarTime>(PropertyValue{sys_days{1500y / January / 1}}));
}

TEST_CASE("PropertyValue: is assigned from every type that it is made from") {
    Properties properties;
    properties["n"] = std::uint32_t{5};
    CHECK(properties["n"] == PropertyValue{std::uint64_t{5}});
    properties["n"] = 5;
    CHECK(properties["n"] == PropertyValue{std::int64_t{5}});
    properties["n"] = 0.5F;
    CHECK(properties["n"] == PropertyValue{0.5});
    properties["n"] = true;
    CHECK(properties["n"] == PropertyValue{true});
    properties["n"] = "text";
    properties["n"] = std::string_view{"text"};
    CHECK(properties["n"] == PropertyValue{"text"});
    properties["n"] = U'x';
    CHECK(properties["n"].type() == ValueType::character);
    properties["n"] = sessionq::Uuid{};
    CHECK(properties["n"] == PropertyValue{sessionq::Uuid{}});
    properties["n"] = 5s;
    CHECK(properties["n"] == TimeSpan{5s});
    CHECK(properties["n"] == 5s);
    std::array bytes{std::byte{1}};
    properties["n"] = std::span{bytes};
    CHECK(properties["n"] == PropertyValue{std::vector{std::byte{1}}});
    properties["n"] = std::span<const std::byte>{bytes};
    properties["n"] = std::span<std::byte>{bytes};
    properties["n"] = std::vector{std::byte{1}};
    CHECK(properties["n"].type() == ValueType::binary);
    properties["n"] = std::chrono::sys_seconds{5s};
    CHECK(properties["n"] == WallTime{5s});
    properties["n"] = std::monostate{};
    CHECK(properties["n"] == PropertyValue{});
    properties["n"] = {};
    CHECK(properties["n"] == PropertyValue{});
}

TEST_CASE("PropertyValue: is not made from types of more than one meaning") {
    enum Unscoped { one };
    CHECK_FALSE(std::is_constructible_v<PropertyValue, char>);
    CHECK_FALSE(std::is_assignable_v<PropertyValue&, char>);
    CHECK_FALSE(std::is_constructible_v<PropertyValue, wchar_t>);
    CHECK_FALSE(std::is_constructible_v<PropertyValue, char8_t>);
    CHECK_FALSE(std::is_constructible_v<PropertyValue, char16_t>);
    CHECK_FALSE(std::is_constructible_v<PropertyValue, long double>);
    CHECK_FALSE(std::is_constructible_v<PropertyValue, std::nullptr_t>);
    CHECK_FALSE(std::is_constructible_v<PropertyValue, void*>);
    CHECK_FALSE(std::is_constructible_v<PropertyValue, std::chrono::nanoseconds>); // would round
    CHECK_FALSE(std::is_constructible_v<PropertyValue, Unscoped>);
    CHECK_FALSE(std::is_constructible_v<PropertyValue, MessageState>);
}

TEST_CASE("PropertyValue: an integer is every type of number that can hold it") {
    CHECK(PropertyValue{5}.as<double>() == 5.0);
    CHECK(PropertyValue{5U}.as<float>() == 5.0F);
    CHECK(PropertyValue{5}.as<long double>() == 5.0L);
    CHECK(PropertyValue{5}.as<unsigned>() == 5U);
    CHECK(PropertyValue{5U}.as<int>() == 5);
    CHECK(PropertyValue{std::int64_t{5}, ValueType::int8}.as<std::uint64_t>() == 5U);
    CHECK(PropertyValue{127}.as<std::int8_t>() == std::int8_t{127});
    CHECK_FALSE(PropertyValue{128}.as<std::int8_t>());
    CHECK_FALSE(PropertyValue{-1}.as<std::uint64_t>());
    CHECK_FALSE(PropertyValue{std::numeric_limits<std::uint64_t>::max()}.as<std::int64_t>());
    CHECK(PropertyValue{std::numeric_limits<std::uint64_t>::max()}.as<double>() ==
          18'446'744'073'709'551'616.0); // the nearest
}

TEST_CASE("PropertyValue: a fraction is every floating type, rounded, and no integer") {
    using Limits = std::numeric_limits<double>;
    CHECK(PropertyValue{0.5}.as<double>() == 0.5);
    CHECK(PropertyValue{0.1}.as<float>() == 0.1F);
    CHECK(PropertyValue{Limits::infinity()}.as<float>() == std::numeric_limits<float>::infinity());
    const float nan = PropertyValue{Limits::quiet_NaN()}.as<float>().value();
    CHECK(nan != nan);
    CHECK_FALSE(PropertyValue{1e300}.as<float>());
    CHECK_FALSE(PropertyValue{-1e300}.as<float>());
    CHECK_FALSE(PropertyValue{5.0}.as<int>());
}

TEST_CASE("PropertyValue: any other kind is only its own type") {
    CHECK(PropertyValue{"t"}.as<std::string>() == "t");
    CHECK(PropertyValue{std::string{"t"}, ValueType::symbol}.as<std::string>() == "t");
    CHECK(PropertyValue{true}.as<bool>() == true);
    CHECK(PropertyValue{U'x'}.as<char32_t>() == U'x');
    CHECK(PropertyValue{sessionq::Uuid{}}.as<sessionq::Uuid>() == sessionq::Uuid{});
    CHECK(PropertyValue{WallTime{5s}}.as<WallTime>() == WallTime{5s});
    CHECK(PropertyValue{std::vector{std::byte{1}}}.as<std::vector<std::byte>>() ==
          std::vector{std::byte{1}});
    CHECK(PropertyValue{Uri{"a:b"}}.as<Uri>() == Uri{"a:b"});
    CHECK_FALSE(PropertyValue{"5"}.as<int>());
    CHECK_FALSE(PropertyValue{true}.as<int>());
    CHECK_FALSE(PropertyValue{1}.as<bool>());
    CHECK_FALSE(PropertyValue{}.as<std::string>());
    CHECK_FALSE(PropertyValue{}.as<int>());
    CHECK_FALSE(PropertyValue{Uri{"a:b"}}.as<std::string>());
    PropertyValue kept{std::string(100, 'x')};
    CHECK(kept.as<std::string>() == std::string(100, 'x'));
    const char* const data = std::get<std::string>(kept).data();
    CHECK(std::move(kept).as<std::string>()->data() == data);
}
