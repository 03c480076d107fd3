#include <doctest/doctest.h>

#include <limits>

#include "amqp/codec/decoder.hpp"
#include "amqp/codec/encoder.hpp"

using namespace sessionq::amqp;
using namespace std::string_literals;

namespace {

Value some_of_everything() {
    sessionq::core::Uuid uuid;
    uuid.bytes.fill(std::byte{0x5a});
    List list{Value{},
              true,
              false,
              std::uint8_t{200},
              std::uint16_t{60000},
              std::uint32_t{0},
              std::uint32_t{255},
              std::uint32_t{256},
              std::uint64_t{0},
              std::uint64_t{255},
              std::numeric_limits<std::uint64_t>::max(),
              std::int8_t{-100},
              std::int16_t{-30000},
              std::int32_t{-128},
              std::int32_t{-129},
              std::int64_t{127},
              std::numeric_limits<std::int64_t>::min(),
              1.5F,
              -2.25,
              U'ü',
              Timestamp{1700000000123},
              uuid,
              Decimal{0x74, "abcd"},
              Decimal{0x84, "abcdefgh"},
              Decimal{0x94, "abcdefghabcdefgh"},
              Value::binary("\0\x01"s),
              "text",
              std::string(300, 'x'),
              Value::symbol("sym"),
              List{},
              Value::map({{Value::symbol("k"), "v"}, {"n", Value{}}}),
              Array{0x81, {std::int64_t{1}, std::int64_t{-1}}, {}},
              Array{0xa3, {Value::symbol("a"), Value::symbol("bc")}, {}},
              Array{0x98, {uuid}, {}},
              Array{0x40, {Value{}, Value{}}, {}},
              Value::described(std::uint64_t{0x137000000C}, "id")};
    return Value{std::move(list)};
}

} // namespace

TEST_CASE("Value: whatever is encoded is decoded as it was") {
    const Value value = some_of_everything();
    const auto back = decode(encode(value));
    REQUIRE(back);
    CHECK(back->to_string() == value.to_string());
    CHECK(*back == value);
}

TEST_CASE("Encoder: takes the most compact form") {
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

TEST_CASE("Decoder: understands the encodings that others choose") {
    CHECK(decode("\x56\x01"s) == Value{true});
    CHECK(decode("\x70\0\0\0\x01"s) == Value{std::uint32_t{1}});
    CHECK(decode("\x80\0\0\0\0\0\0\0\x05"s) == Value{std::uint64_t{5}});
    CHECK(decode("\xb1\0\0\0\x01z"s) == Value{"z"});
    CHECK(decode("\xd0\0\0\0\x05\0\0\0\x01\x40"s) == Value{List{Value{}}});
    SUBCASE("arrays of one-byte longs, as Go sends them") { CHECK(decode("\xe0\x04\x02\x55\x01\x02"s)->items()->at(1).integer() == 2); }
    SUBCASE("arrays of nulls, as Python sends them") { CHECK(decode("\xe0\x02\x03\x40"s)->items()->size() == 3); }
}

TEST_CASE("Decoder: no truncation is taken for a value, and none moves the reader") {
    const std::string whole = encode(some_of_everything());
    for (std::size_t length = 0; length < whole.size(); ++length) {
        CAPTURE(length);
        Decoder decoder{std::string_view{whole}.substr(0, length)};
        CHECK_FALSE(decoder.read().has_value());
        CHECK(decoder.position() == 0);
    }
}

TEST_CASE("Decoder: hostile sizes cost nothing") {
    CHECK_FALSE(decode("\xb0\xff\xff\xff\xff"s));
    CHECK_FALSE(decode("\xd0\0\0\0\x05\xff\xff\xff\xff\x40"s));
    CHECK_FALSE(decode("\xf0\0\0\0\x05\xff\xff\xff\xff\x40"s));
    CHECK_FALSE(decode("\xc1\x02\x01\x40"s)); // a key without a value
    CHECK_FALSE(decode("\xc0\x00"s));         // no room for its own count
    std::string deep;
    for (int i = 0; i < 100'000; ++i) {
        deep += "\0\x43"s;
    }
    CHECK_FALSE(decode(deep + "\x40"));
}

TEST_CASE("Decoder: typed reads take only their type") {
    Decoder decoder{"\x43\x54\xff\xa1\x01x\x45\x41"};
    CHECK_FALSE(decoder.read_bytes());
    CHECK(decoder.read_unsigned() == 0U);
    CHECK_FALSE(decoder.read_unsigned());
    CHECK(decoder.read_integer() == -1);
    CHECK(decoder.read_bytes() == "x");
    CHECK(decoder.read_list()->count == 0);
    CHECK(decoder.read_boolean() == true);
    CHECK(decoder.at_end());
    CHECK_FALSE(decoder.skip());
}

TEST_CASE("Value: find answers for strings and symbols alike") {
    const Value map = Value::map({{Value::symbol("a"), std::int32_t{1}}, {"b", std::uint64_t{2}}});
    CHECK(map.find("a")->integer() == 1);
    CHECK(map.find("b")->integer() == 2);
    CHECK(map.find("c") == nullptr);
    CHECK(Value{"text"}.find("a") == nullptr);
    CHECK_FALSE(Value{std::numeric_limits<std::uint64_t>::max()}.integer());
}
