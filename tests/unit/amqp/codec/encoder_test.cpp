// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "amqp/codec/encoder.hpp"
#include "codec/samples.hpp"

using namespace sessionq::amqp;
using namespace std::string_literals;

TEST_CASE("Encoder: uses the most compact form") {
    CHECK(encode(std::uint32_t{0}) == "\x43");
    CHECK(encode(std::uint32_t{7}) == "\x52\x07");
    CHECK(encode(std::uint64_t{0}) == "\x44");
    CHECK(encode(std::uint64_t{0x24}) == "\x53\x24");
    CHECK(encode(std::int32_t{-1}) == "\x54\xff");
    CHECK(encode(std::int64_t{1000}) == "\x81\0\0\0\0\0\0\x03\xe8"s);
    CHECK(encode(List{}) == "\x45");
    CHECK(encode("hi") == "\xa1\x02hi");
    CHECK(encode(Value::symbol("$cbs")) == "\xa3\x04$cbs");
    CHECK(encode(Value::map({{"a", true}})) == "\xc1\x05\x02\xa1\x01\x61\x41");
}

TEST_CASE("Encoder: uses the right form at the limits of each integer form") {
    CHECK(encode(std::uint32_t{255}) == "\x52\xff");
    CHECK(encode(std::uint32_t{256}) == "\x70\0\0\x01\0"s);
    CHECK(encode(std::uint64_t{255}) == "\x53\xff");
    CHECK(encode(std::uint64_t{256}) == "\x80\0\0\0\0\0\0\x01\0"s);
    CHECK(encode(std::int32_t{127}) == "\x54\x7f");
    CHECK(encode(std::int32_t{-128}) == "\x54\x80");
    CHECK(encode(std::int32_t{128}) == "\x71\0\0\0\x80"s);
    CHECK(encode(std::int32_t{-129}) == "\x71\xff\xff\xff\x7f");
    CHECK(encode(std::int64_t{-1}) == "\x55\xff");
    CHECK(encode(std::int64_t{128}) == "\x81\0\0\0\0\0\0\0\x80"s);
}

TEST_CASE("Encoder: strings and lists use the long form when the short one is too small") {
    CHECK(encode(std::string(255, 'x')).substr(0, 2) == "\xa1\xff");
    CHECK(encode(std::string(256, 'x')).substr(0, 5) == "\xb1\0\0\x01\0"s);
    CHECK(encode(Value{List(254, Value{true})}).substr(0, 3) == "\xc0\xff\xfe");
    CHECK(encode(Value{List(255, Value{true})}).substr(0, 9) == "\xd0\0\0\x01\x03\0\0\0\xff"s);
}

TEST_CASE("Encoder: a list or map written item by item equals one written whole") {
    std::string bytes;
    Encoder encoder{bytes};
    encoder.write_descriptor(0x24);
    const std::size_t list = encoder.begin_list();
    encoder.write_symbol("a");
    const std::size_t map = encoder.begin_map();
    encoder.write_string("k");
    encoder.write_long(1);
    encoder.end_map(map, 2);
    encoder.end_list(list, 2);
    CHECK(decode(bytes) == Value::described(std::uint64_t{0x24},
                                            Value::list({Value::symbol("a"),
                                                         Value::map({{"k", std::int64_t{1}}})})));
}

TEST_CASE("Encoder: an array uses a wider form if an element does not fit the given one") {
    const auto back = [](Array array) {
        return decode(encode(Value{std::move(array)})).value_or(Value{});
    };
    CHECK(back({0x55, {std::int64_t{1}, std::int64_t{1000}}, {}}) ==
          Value{Array{0x81, {std::int64_t{1}, std::int64_t{1000}}, {}}});
    CHECK(back({0x52, {std::uint32_t{256}}, {}}) == Value{Array{0x70, {std::uint32_t{256}}, {}}});
    CHECK(back({0x44, {std::uint64_t{1}}, {}}) == Value{Array{0x80, {std::uint64_t{1}}, {}}});
    CHECK(back({0x41, {true, false}, {}}) == Value{Array{0x56, {true, false}, {}}});
    const std::string text(256, 'x');
    CHECK(back({0xa1, {"a", text}, {}}) == Value{Array{0xb1, {"a", text}, {}}});
    CHECK(back({0xa3, {Value::symbol(text)}, {}}) == Value{Array{0xb3, {Value::symbol(text)}, {}}});
    CHECK(back({0x45, {Value{List{true}}}, {}}) == Value{Array{0xd0, {Value{List{true}}}, {}}});
    CHECK(back({0xc0, {Value{List{text}}}, {}}) == Value{Array{0xd0, {Value{List{text}}}, {}}});
    CHECK(back({0xe0, {Array{0xb1, {text}, {}}}, {}}) ==
          Value{Array{0xf0, {Array{0xb1, {text}, {}}}, {}}});
}
