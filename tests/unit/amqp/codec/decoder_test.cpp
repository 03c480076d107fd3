// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <random>

#include "amqp/codec/decoder.hpp"
#include "codec/samples.hpp"
#include "support/random_message.hpp"

using namespace sessionq;
using namespace sessionq::amqp;
using namespace std::string_literals;

namespace {

/// A list with one value of each type, written by Qpid Proton-C 0.37 (pn_data_encode).
const std::string values_by_proton = from_hex(
    "d0000000fa0000002240414250c860ea604352ff70000001004453ff80ffffffffffffffff519c618ad0548071ffff"
    "ff7f557f818000000000000000723fc0000082c0020000"
    "0000000073000000fc830000018bcfe5687b9800112233445566778899aabbccddeeff746162636484616263646566"
    "6768946162636465666768696a6b6c6d6e6f70a0020001"
    "a10474657874a30373796d45d10000000e00000004a3016ba10176a1016e40f0000000150000000281000000000000"
    "0001fffffffffffffffff00000001000000002b3000000"
    "0161000000026263f00000001200000002005309b1000000017800000001790080000000137000000ca1026964");

class Maker {
public:
    explicit Maker(std::uint32_t seed) : random_{seed} {}

    Value make(int depth) {
        switch (below(depth > 0 ? 25 : 21)) {
        case 0: return {};
        case 1: return below(2) == 0;
        case 2: return static_cast<std::uint8_t>(number());
        case 3: return static_cast<std::uint16_t>(number());
        case 4: return static_cast<std::uint32_t>(number());
        case 5: return number();
        case 6: return static_cast<std::int8_t>(number());
        case 7: return static_cast<std::int16_t>(number());
        case 8: return static_cast<std::int32_t>(number());
        case 9: return static_cast<std::int64_t>(number());
        case 10: return static_cast<float>(number());
        case 11: return static_cast<double>(number());
        case 12: return static_cast<char32_t>(below(0x110000));
        case 13: return Timestamp{static_cast<std::int64_t>(number())};
        case 14: return some_uuid();
        case 15: return amqp::Decimal{0x74, bytes(4)};
        case 16: return amqp::Decimal{0x84, bytes(8)};
        case 17: return amqp::Decimal{0x94, bytes(16)};
        case 18: return Value::binary(bytes(below(300)));
        case 19: return Value{bytes(below(300))};
        case 20: return Value::symbol(bytes(below(20)));
        case 21: return list(depth);
        case 22: return map(depth);
        case 23: return Value::described(make(0), make(depth - 1));
        default: return array();
        }
    }

private:
    std::uint32_t below(std::uint32_t bound) {
        return static_cast<std::uint32_t>(random_() % bound);
    }
    std::uint64_t number() { return random_() >> below(64); } // of every length
    std::string bytes(std::size_t count) {
        std::string made;
        while (made.size() < count) {
            made.push_back(static_cast<char>(below(256)));
        }
        return made;
    }
    Value list(int depth) {
        List made;
        for (std::uint32_t left = below(6); left > 0; --left) {
            made.push_back(make(depth - 1));
        }
        return made;
    }
    Value map(int depth) {
        Map made;
        for (std::uint32_t left = below(5); left > 0; --left) {
            made.emplace_back(make(0), make(depth - 1));
        }
        return made;
    }
    Value array() {
        Array made{.element = 0x81};
        for (std::uint32_t left = below(5); left > 0; --left) {
            made.items.emplace_back(static_cast<std::int64_t>(number()));
        }
        return made;
    }

    std::mt19937_64 random_;
};

} // namespace

TEST_CASE("Decoder: reads back what the encoder wrote") {
    const Value value = some_of_everything();
    const auto back = decode(encode(value));
    REQUIRE(back);
    CHECK(back->to_string() == value.to_string());
    CHECK(*back == value);
}

TEST_CASE("Decoder: reads back and skips random values") {
    for (std::uint32_t seed = 0; seed < 2000; ++seed) {
        CAPTURE(seed);
        const Value value = Maker{seed}.make(4);
        const std::string bytes = encode(value);
        const auto back = decode(bytes);
        REQUIRE(back);
        REQUIRE(*back == value);
        REQUIRE(Decoder{bytes}.skip() == std::string_view{bytes});
        REQUIRE_FALSE(decode(bytes.substr(0, bytes.size() - 1)));
    }
}

TEST_CASE("Decoder: reads what Proton wrote") {
    const auto value = decode(values_by_proton);
    REQUIRE(value);
    CHECK(*value ==
          Value::list({Value{},
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
                       Timestamp{1'700'000'000'123},
                       some_uuid(),
                       amqp::Decimal{0x74, "abcd"},
                       amqp::Decimal{0x84, "abcdefgh"},
                       amqp::Decimal{0x94, "abcdefghijklmnop"},
                       Value::binary("\0\x01"s),
                       "text",
                       Value::symbol("sym"),
                       List{},
                       Value::map({{Value::symbol("k"), "v"}, {"n", Value{}}}),
                       Array{0x81, {std::int64_t{1}, std::int64_t{-1}}, {}},
                       Array{0xb3, {Value::symbol("a"), Value::symbol("bc")}, {}},
                       Array{0xb1, {"x", "y"}, std::make_shared<const Value>(std::uint64_t{9})},
                       Value::described(std::uint64_t{0x137000000C}, "id")}));
}

TEST_CASE("Decoder: reads the standard's own example, a book") {
    // AMQP 1.0 part 1, section 1.2: a described list that contains an array of authors.
    const std::string book = from_hex("00a30c") + "example:book" + from_hex("c04003a115") +
                             "AMQP for & by Dummies" + from_hex("e02502a10e") + "Rob J. Godfrey" +
                             from_hex("13") + "Rafael H. Schloming" + from_hex("40");
    const auto value = decode(book);
    REQUIRE(value);
    CHECK(*value ==
          Value::described(
              Value::symbol("example:book"),
              Value::list({"AMQP for & by Dummies",
                           Array{0xa1, {"Rob J. Godfrey", "Rafael H. Schloming"}, {}}, Value{}})));
}

TEST_CASE("Decoder: accepts the encodings that other libraries choose") {
    CHECK(decode("\x56\x01"s) == Value{true});
    CHECK(decode("\x70\0\0\0\x01"s) == Value{std::uint32_t{1}});
    CHECK(decode("\x80\0\0\0\0\0\0\0\x05"s) == Value{std::uint64_t{5}});
    CHECK(decode("\xb1\0\0\0\x01z"s) == Value{"z"});
    CHECK(decode("\xd0\0\0\0\x05\0\0\0\x01\x40"s) == Value{List{Value{}}});
    CHECK(decode("\x53\x05"s) == Value{std::uint64_t{5}});
    CHECK(decode("\x71\xff\xff\xff\xff"s) == Value{std::int32_t{-1}});
    CHECK(decode("\xc0\x01\x00"s) == Value{List{}});
    CHECK(decode("\xd1\0\0\0\x04\0\0\0\0"s) == Value{Map{}});
    SUBCASE("arrays of one-byte longs, as Go sends them") {
        CHECK(decode("\xe0\x04\x02\x55\x01\x02"s)->items()->at(1).integer() == 2);
    }
    SUBCASE("arrays of empty lists") { CHECK(decode("\xe0\x02\x02\x45"s)->items()->size() == 2); }
    SUBCASE("arrays of described values") {
        const auto value = decode("\xe0\x07\x02\0\x53\x09\x50\x01\x02"s);
        REQUIRE(value);
        CHECK(*value == Value{Array{0x50,
                                    {std::uint8_t{1}, std::uint8_t{2}},
                                    std::make_shared<const Value>(std::uint64_t{9})}});
    }
    SUBCASE("arrays of nulls, as Python sends them") {
        CHECK(decode("\xe0\x02\x03\x40"s)->items()->size() == 3);
    }
}

TEST_CASE("Decoder: a truncated value fails and does not move the decoder") {
    const std::string whole = encode(some_of_everything());
    for (std::size_t length = 0; length < whole.size(); ++length) {
        CAPTURE(length);
        Decoder decoder{std::string_view{whole}.substr(0, length)};
        CHECK_FALSE(decoder.read().has_value());
        CHECK(decoder.position() == 0);
    }
}

TEST_CASE("Decoder: false sizes and counts fail without large allocations") {
    CHECK_FALSE(decode("\xb0\xff\xff\xff\xff"s));
    CHECK_FALSE(decode("\xd0\0\0\0\x05\xff\xff\xff\xff\x40"s));
    CHECK_FALSE(decode("\xf0\0\0\0\x05\xff\xff\xff\xff\x40"s));
    CHECK_FALSE(decode("\xc1\x02\x01\x40"s)); // a key without a value
    CHECK_FALSE(decode("\xc0\x00"s));         // no room for its own count
    CHECK_FALSE(decode("\xe0\x00"s));
    CHECK_FALSE(decode("\xe0\x01\x01"s)); // no constructor
    CHECK_FALSE(decode("\xe0\x02\x01\0"s));
    CHECK(decode("\xe0\x05\0\0\x53\x09\x40"s));     // no element, of a described type
    CHECK_FALSE(decode("\xe0\x05\0\0\x53\x09\0"s)); // of a type that is described twice
    CHECK_FALSE(decode("\x56\x02"s));               // neither true nor false
    CHECK_FALSE(decode("\xa2\x01x"s));              // no such type
    CHECK_FALSE(Decoder{"\xa2\x01x"}.read_bytes());
    std::string deep;
    for (int i = 0; i < 100'000; ++i) {
        deep += "\0\x43"s;
    }
    CHECK_FALSE(decode(deep + "\x40"));
    CHECK_FALSE(Decoder{deep}.skip());
    std::string lists = "\x45";
    for (int i = 0; i < 100; ++i) {
        lists = "\xd0"s + "\0\0"s + static_cast<char>((lists.size() + 4) >> 8U) +
                static_cast<char>(lists.size() + 4) + "\0\0\0\x01"s + lists;
    }
    CHECK_FALSE(decode(lists));
}

TEST_CASE("Decoder: the number of zero-size array elements in a tree is bounded") {
    const std::string nulls = "\xf0\0\0\0\x05\0\0\x0f\xff\x40"s; // 4095 elements in ten bytes
    CHECK(decode(nulls)->items()->size() == 4095);
    CHECK(decode("\xc0\x0b\x01"s + nulls));
    CHECK_FALSE(decode("\xc0\x15\x02"s + nulls + nulls));
}

TEST_CASE("Decoder: skip does not check what is inside a compound value") {
    const std::string bytes = "\xc0\x02\x01\xff\x41"; // a list without a valid value inside
    Decoder decoder{bytes};
    CHECK(decoder.skip() == std::string_view{bytes}.substr(0, 4));
    CHECK(decoder.read_boolean() == true);
    CHECK_FALSE(decode(bytes.substr(0, 4)));
}

TEST_CASE("Decoder: a typed read accepts only its type") {
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

TEST_CASE("Decoder: read_integer accepts every width") {
    const auto integer = [](std::string_view bytes) { return Decoder{bytes}.read_integer(); };
    CHECK(integer("\x51\xff") == -1);
    CHECK(integer("\x61\xff\xfe") == -2);
    CHECK(integer("\x71\x80\0\0\0"s) == std::numeric_limits<std::int32_t>::min());
    CHECK(integer("\x81\x80\0\0\0\0\0\0\0"s) == std::numeric_limits<std::int64_t>::min());
    CHECK(integer("\x83\0\0\0\0\0\0\0\x05"s) == 5);
    CHECK(integer("\x50\xff") == 255);
    CHECK_FALSE(integer("\x80\xff\xff\xff\xff\xff\xff\xff\xff")); // too large
    CHECK_FALSE(integer("\x81\0"s));
    CHECK_FALSE(integer("\x56\x01"));
    CHECK_FALSE(Decoder{"\x54\x01"}.read_unsigned());
}

TEST_CASE("decoder: a tree has at most so many values, those in arrays and itself included") {
    const Value tree = Value::list(
        {true, Value::map({{"a", true}}), Array{.element = 0x50, .items = {std::uint8_t{1}}}});
    const std::string bytes = encode(tree);
    constexpr std::uint32_t values = 7;
    CHECK(Decoder{bytes}.read(values) == tree);
    CHECK_FALSE(Decoder{bytes}.read(values - 1));
    CHECK_FALSE(Decoder{bytes}.read(0));
}

TEST_CASE("decoder: typed reads find what the tree finds, in any bytes") {
    std::mt19937 random{7};
    constexpr std::string_view codes =
        "\x40\x41\x42\x43\x44\x45\x50\x51\x52\x53\x54\x55\x56\x60\x61\x70\x71\x80\x81\x83"
        "\x98\xa0\xa1\xa2\xa3\xb0\xb1\xb3\xc0\xc1\xd0\xd1\xe0\xf0";
    const auto pick = [&random](std::size_t bound) { return random() % bound; };
    std::size_t found = 0;
    for (int round = 0; round < 200'000; ++round) {
        std::string bytes{codes[pick(codes.size())]};
        const std::size_t length = pick(14);
        while (bytes.size() < length) {
            bytes += pick(3) == 0 ? codes[pick(codes.size())] : static_cast<char>(pick(12));
        }
        Decoder whole{bytes};
        const auto tree = whole.read();
        const auto agrees = [&](auto read, auto of_tree) {
            Decoder decoder{bytes};
            const auto typed = read(decoder);
            const auto wanted = tree ? of_tree(*tree) : decltype(of_tree(*tree)){};
            CHECK(decoder.position() == (typed ? whole.position() : 0));
            found += typed ? 1 : 0;
            return typed.has_value() == wanted.has_value() && (!typed || *typed == *wanted);
        };
        CAPTURE(to_hex(bytes));
        CHECK(agrees([](Decoder& decoder) { return decoder.read_bytes(); },
                     [](const Value& value) { return value.bytes(); }));
        CHECK(agrees([](Decoder& decoder) { return decoder.read_unsigned(); },
                     [](const Value& value) {
                         const bool is = value.as<std::uint8_t>() || value.as<std::uint16_t>() ||
                                         value.as<std::uint32_t>() || value.as<std::uint64_t>();
                         return is ? value.unsigned_integer() : std::nullopt;
                     }));
        CHECK(agrees([](Decoder& decoder) { return decoder.read_integer(); },
                     [](const Value& value) {
                         const auto* time = value.as<Timestamp>();
                         return time != nullptr ? std::optional{time->milliseconds}
                                                : value.integer();
                     }));
        CHECK(agrees([](Decoder& decoder) { return decoder.read_boolean(); },
                     [](const Value& value) {
                         const auto* is = value.as<bool>();
                         return is != nullptr ? std::optional{*is} : std::nullopt;
                     }));
        CHECK(bytes_in(std::string_view{bytes}.substr(0, whole.position())) ==
              (tree ? tree->bytes() : std::nullopt));
    }
    CHECK(found > 20'000);
}

TEST_CASE("Decoder: check steps over what read can read, and over nothing else") {
    const auto agree = [](std::string_view bytes) {
        Decoder read{bytes};
        Decoder checked{bytes};
        const bool can_be_read = read.read().has_value();
        const auto found = checked.check();
        CHECK(found.has_value() == can_be_read);
        CHECK(checked.position() == read.position());
        return can_be_read;
    };
    CHECK(agree(encode(some_of_everything())));
    CHECK_FALSE(agree("\xf0\0\0\0\x05\0\x0f\x42\x40\x41"s)); // a million times true
    CHECK_FALSE(agree("\x46"s));                             // there is no such type
    CHECK_FALSE(agree("\x56\x02"s));
    CHECK_FALSE(agree("\xc1\x02\x01\x40"s)); // a key without a value
    core::Random random{11};
    std::size_t read = 0;
    std::size_t refused = 0;
    for (int i = 0; i < 20'000; ++i) {
        const std::string bytes = tests::damaged(
            tests::encode_in_any_form(tests::random_value(random, 3), random), random);
        ++(agree(bytes) ? read : refused);
    }
    CHECK(read > 1'000);
    CHECK(refused > 1'000);
}

TEST_CASE("Decoder: check goes as deep as read") {
    for (const int depth : {Decoder::deepest - 1, Decoder::deepest, Decoder::deepest + 1}) {
        Value list = List{};
        Value array = Array{0x45, {List{}}, {}};
        Value described = true;
        for (int i = 0; i < depth; ++i) {
            list = Value::list({std::move(list)});
            array = Array{0xf0, {std::move(array)}, {}};
            described = Value::described(std::uint64_t{1}, std::move(described));
        }
        for (const Value& value : {list, array, described}) {
            const std::string bytes = encode(value);
            CHECK(Decoder{bytes}.check().has_value() == Decoder{bytes}.read().has_value());
        }
        CHECK(Decoder{encode(list)}.check().has_value() == (depth <= Decoder::deepest));
    }
}
