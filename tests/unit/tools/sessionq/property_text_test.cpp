// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "amqp/base64.hpp"
#include "amqp/codec/property_value.hpp"
#include "support/random_message.hpp"
#include "tools/command_line.hpp"
#include "tools/sessionq/base64.hpp"
#include "tools/sessionq/property_text.hpp"

using namespace sessionq;
using namespace sessionq::cli;

namespace {

using Property = std::pair<std::string, PropertyValue>;

std::string property_complaint(const char* text) {
    try {
        static_cast<void>(parse_property(text));
    } catch (const tools::UsageError& error) {
        return error.what();
    }
    return {};
}

} // namespace

TEST_CASE("parse_property: text, or a value of the named type") {
    CHECK(parse_property("colour=red") == Property{"colour", std::string{"red"}});
    CHECK(parse_property("a==b") == Property{"a", std::string{"=b"}});
    CHECK(parse_property("empty=") == Property{"empty", std::string{}});
    CHECK(parse_property("n:int=-5") == Property{"n", std::int64_t{-5}});
    CHECK(parse_property("n:uint=18446744073709551615") ==
          Property{"n", std::uint64_t{UINT64_MAX}});
    CHECK(parse_property("n:double=1.5") == Property{"n", 1.5});
    CHECK(parse_property("b:bool=true") == Property{"b", true});
    CHECK(parse_property("t:time=1970-01-01T00:00:00Z") == Property{"t", WallTime{}});
    CHECK(parse_property("x:base64=AP8=") ==
          Property{"x", std::vector<std::byte>{std::byte{0}, std::byte{0xff}}});
    CHECK(parse_property("x:null=") == Property{"x", std::monostate{}});
    CHECK(parse_property("a:b:string=c") == Property{"a:b", std::string{"c"}});
    CHECK(parse_property("s:string=5") == Property{"s", std::string{"5"}});
}

TEST_CASE("typed_text: parse_value reads a value of every type again, with its type") {
    core::Random random{3};
    std::vector<amqp::Value> values = tests::values_of_every_type();
    for (int i = 0; i < 1000; ++i) {
        values.push_back(tests::random_value(random, 2));
    }
    for (const amqp::Value& value : values) {
        CAPTURE(value.to_string());
        const PropertyValue property = amqp::to_property(value);
        const TypedText text = typed_text(property);
        CAPTURE(text.text);
        const auto read = parse_value(text.type, text.text);
        REQUIRE(read);
        CHECK(read->type() == property.type());
        const auto again = typed_text(*read);
        CHECK(again.type == text.type);
        CHECK(again.text == text.text);
    }
}

TEST_CASE("parse_property: each type by its name") {
    CHECK(parse_property("d:decimal=7.50").second == *Decimal::parse("7.50"));
    CHECK(parse_property("d:decimal32=7.50").second.type() == ValueType::decimal32);
    CHECK(parse_property("n:int8=-5").second.type() == ValueType::int8);
    CHECK(parse_property("f:float=0.1").second.type() == ValueType::float32);
    CHECK(parse_property("c:char=\xe2\x82\xac").second == U'\u20ac');
    CHECK(parse_property("s:time_span=00:00:05.5").second == std::chrono::milliseconds{5500});
    CHECK(parse_property("u:uri=a:b").second == Uri{"a:b"});
    CHECK(parse_property("t:time=9999-12-31T23:59:59.999Z").second ==
          FarTime{std::chrono::milliseconds{253'402'300'799'999}});
    CHECK(parse_property("a:amqp=RQ==").second == EncodedValue{"\x45"});
    CHECK(property_complaint("n:int8=128") == "--property n: '128' is no value of type int8");
    CHECK_FALSE(property_complaint("c:char=ab").empty());
    CHECK_FALSE(property_complaint("a:amqp=QUE=").empty()); // two values
}

TEST_CASE("parse_property: what is wrong is named") {
    CHECK(property_complaint("colour") ==
          "--property: 'colour' is not NAME=VALUE or NAME:TYPE=VALUE");
    CHECK_FALSE(property_complaint("=red").empty());
    CHECK(property_complaint("n:int=five") == "--property n: 'five' is no value of type int");
    CHECK(property_complaint("n:itn=5") == "--property n: unknown type 'itn'; did you mean 'int'?");
    CHECK_FALSE(property_complaint("n:int=5 ").empty());
    CHECK_FALSE(property_complaint("n:uint=-1").empty());
    CHECK_FALSE(property_complaint("b:bool=yes").empty());
    CHECK_FALSE(property_complaint("x:base64=AP8").empty());
    CHECK_FALSE(property_complaint("x:null=null").empty());
}

TEST_CASE("base64: with padding, and nothing else") {
    CHECK(amqp::base64("") == "");
    CHECK(amqp::base64("f") == "Zg==");
    CHECK(amqp::base64("fo") == "Zm8=");
    CHECK(amqp::base64("foo") == "Zm9v");
    std::string bytes;
    for (int i = 0; i < 256; ++i) {
        bytes += static_cast<char>(i);
        CHECK(from_base64(amqp::base64(bytes)) == bytes);
    }
    for (const char* wrong : {"Z", "Zg", "Zg=", "Zg===", "Z=g=", " Zg==", "Zg==\n",
                              "Zm9v=", "====", "Zm9-", "\xc3\xa4Zg"}) {
        CAPTURE(wrong);
        CHECK_FALSE(from_base64(wrong));
    }
}
