// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "amqp/codec/encoder.hpp"
#include "amqp/codec/property_value.hpp"
#include "codec/samples.hpp"
#include "support/random_message.hpp"

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

TEST_CASE("to_property: a value of every type is read with its type, and written as it was") {
    using Type = ValueType;
    const std::vector<Type> types{Type::string,     Type::boolean,    Type::uint8,
                                  Type::int8,       Type::int16,      Type::uint16,
                                  Type::int32,      Type::uint32,     Type::int64,
                                  Type::uint64,     Type::float32,    Type::float64,
                                  Type::decimal128, Type::decimal128, Type::decimal64,
                                  Type::decimal32,  Type::character,  Type::uuid,
                                  Type::timestamp,  Type::timestamp,  Type::date_time_offset,
                                  Type::time_span,  Type::uri,        Type::symbol,
                                  Type::binary,     Type::null};
    const std::vector<Value> values = tests::values_of_every_type();
    REQUIRE(types.size() == values.size());
    for (std::size_t i = 0; i < types.size(); ++i) {
        CAPTURE(values[i].to_string());
        const PropertyValue read = to_property(values[i]);
        CHECK(read.type() == types[i]);
        CHECK(to_value(read) == values[i]);
        CHECK(read_property(encode(values[i])) == read);
    }
    CHECK(std::get<std::int64_t>(to_property(std::int32_t{-5})) == -5);
    CHECK(std::get<double>(to_property(1.5F)) == 1.5);
    CHECK(std::get<std::string>(to_property(Value::symbol("s"))) == "s");
    CHECK(std::get<sessionq::Decimal>(to_property(values[12])).to_string() == "5.50");
    CHECK(std::get<Uuid>(to_property(some_uuid())) ==
          Uuid::parse("00112233-4455-6677-8899-aabbccddeeff"));
    CHECK(std::get<FarTime>(to_property(Timestamp{253'402'300'799'999})).since ==
          std::chrono::milliseconds{253'402'300'799'999});
    CHECK(std::get<TimeSpan>(to_property(values[21])) == std::chrono::milliseconds{5500});
    CHECK(std::get<Uri>(to_property(values[22])).text == "https://a.example/b");
    CHECK(std::get<DateTimeOffset>(to_property(values[20])).time() ==
          WallTime{std::chrono::seconds{1'767'322'985}});
}

TEST_CASE(
    "to_property: lists, maps, arrays and unknown described values stay as they are encoded") {
    core::Random random{5};
    for (const Value& value :
         {Value{List{true}}, Value::map({{"k", std::int32_t{1}}}), Value{Array{0x54, {}, {}}},
          Value::described(Value::symbol("com.microsoft:timespan"), "no number"),
          Value::described(std::uint64_t{9}, "x")}) {
        const std::string encoded = tests::encode_in_any_form(value, random);
        const auto read = read_property(encoded);
        REQUIRE(read);
        CHECK(std::get<EncodedValue>(*read).bytes == encoded);
        CHECK(to_value(*read) == value);
        std::string written;
        Encoder encoder{written};
        write_property(*read, encoder);
        CHECK(written == encoded);
    }
    CHECK(to_value(EncodedValue{"not a value"}).is_null());
    CHECK(to_value(EncodedValue{"\x41\x41"}).is_null()); // two values
}

TEST_CASE("to_property: random values of every type are written as they were") {
    core::Random random{6};
    for (int i = 0; i < 2000; ++i) {
        const Value value = tests::random_value(random, 3);
        CAPTURE(value.to_string());
        CHECK(encode(to_value(to_property(value))) == encode(value));
    }
}
