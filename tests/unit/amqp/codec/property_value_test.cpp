// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "amqp/codec/property_value.hpp"
#include "codec/samples.hpp"

using namespace sessionq;
using namespace sessionq::amqp;
using namespace std::string_literals;

TEST_CASE("to_value: every property converts there and back") {
    const std::vector<PropertyValue> all{std::monostate{},
                                         true,
                                         std::int64_t{-5},
                                         std::uint64_t{1} << 63U,
                                         0.5,
                                         std::string{"t"},
                                         noon.wall,
                                         std::vector<std::byte>{std::byte{1}, std::byte{0}}};
    for (const PropertyValue& each : all) {
        CHECK(to_property(to_value(each)) == each);
        CHECK(read_property(encode(to_value(each))) == each);
    }
    CHECK(to_value(std::int64_t{1}) == Value{std::int64_t{1}});
    CHECK(to_value(noon.wall) == Value{Timestamp{1'700'000'000'000}});
}

TEST_CASE("read_property: reads exactly one value") {
    CHECK(read_property("\xb1\0\0\0\x01z"s) == PropertyValue{std::string{"z"}});
    CHECK_FALSE(read_property(""));
    CHECK_FALSE(read_property("\xa1\x02z"));
    CHECK_FALSE(read_property("\xa1\x01zz"));
    CHECK_FALSE(read_property("\x41\x41"));
}

TEST_CASE("to_property: converts integers of every width, symbols and UUIDs") {
    CHECK(to_property(std::uint8_t{1}) == PropertyValue{std::int64_t{1}});
    CHECK(to_property(std::int16_t{-1}) == PropertyValue{std::int64_t{-1}});
    CHECK(to_property(Value::symbol("s")) == PropertyValue{std::string{"s"}});
    CHECK(to_property(1.5F) == PropertyValue{1.5});
    CHECK(to_property(*core::Uuid::parse("00112233-4455-6677-8899-aabbccddeeff")) ==
          PropertyValue{std::string{"00112233-4455-6677-8899-aabbccddeeff"}});
}

TEST_CASE("to_property: converts a value of another type to its text") {
    CHECK(to_property(U'a') == PropertyValue{std::string{"a"}});
    CHECK(to_property(U'ü') == PropertyValue{std::string{"\xc3\xbc"}});
    CHECK(to_property(U'€') == PropertyValue{std::string{"\xe2\x82\xac"}});
    CHECK(to_property(U'\U0001f600') == PropertyValue{std::string{"\xf0\x9f\x98\x80"}});
    CHECK(to_property(static_cast<char32_t>(0x110000)) ==
          PropertyValue{std::string{"\xef\xbf\xbd"}});
    CHECK(to_property(List{true}) == PropertyValue{std::string{"[true]"}});
}
