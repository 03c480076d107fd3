// SPDX-License-Identifier: MIT
#include "amqp/codec/resent_message.hpp"

#include <doctest/doctest.h>

#include "amqp/codec/delivery_codec.hpp"
#include "amqp/codec/encoder.hpp"
#include "codec/samples.hpp"

using namespace sessionq;
using namespace sessionq::amqp;

namespace {

MessageSections resent(const std::string& received, std::string& encoded) {
    encoded = encode_resent(*parse(received),
                            {.message_id = encode(Value{"new"}),
                             .properties = {{"mark", encode(Value{std::int32_t{1}})}}},
                            noon.wall)
                  .value();
    return *MessageSections::find(encoded);
}

std::string fields_of(std::initializer_list<Value> fields) {
    return section_of(0x73, Value{List{fields}});
}

} // namespace

TEST_CASE("encode_resent: what belongs to the delivery goes, all else stays byte for byte") {
    std::string long_key;
    Encoder key{long_key};
    key.write_descriptor(0x74);
    const std::size_t begun = key.begin_map();
    key.put_raw(std::string{"\xb1\0\0\0\1k", 6}); // a form that is longer than necessary
    key.write_int(5);
    key.write_string("DeadLetterReason");
    key.write_string("Broken");
    key.write_string(time_left_property);
    key.write_long(5);
    key.end_map(begun, 6);
    const std::string own = encode(Value::symbol("x-own")) + encode(Value{std::int8_t{5}});
    const std::string number_key = encode(Value{std::uint64_t{9}}) + encode(Value{"nine"});
    const std::string body = section_of(0x76, Value::list({1.5})) + section_of(0x76, Value{List{}});
    const std::string footer = section_of(0x78, Value::map({{Value::symbol("f"), true}}));
    std::string encoded;
    const MessageSections now = resent(
        section_of(0x70, Value::list({true, std::uint8_t{9}, std::uint32_t{1000}, false,
                                      std::uint32_t{3}})) +
            section_of(0x71, Value::map({{Value::symbol("x-opt-lock-token"), core::Uuid{}}})) +
            section_of(0x72, Value::map({{Value::symbol("x-opt-sequence-number"), std::int64_t{7}},
                                         {Value::symbol("x-own"), std::int8_t{5}},
                                         {std::uint64_t{9}, "nine"}})) +
            fields_of({std::uint64_t{7}, Value::binary("user"), Value{}, Value::symbol("odd")}) +
            long_key + body + footer,
        encoded);
    const auto header = MessageHeader::read(now.header);
    REQUIRE(header);
    CHECK(header->durable);
    CHECK(header->priority == 9);
    CHECK(header->time_to_live == 1000U);
    CHECK(header->delivery_count == 0);
    CHECK(now.delivery_annotations.empty());
    CHECK(now.message_annotations.ends_with(own + number_key));
    CHECK(now.message_annotations.find("x-opt") == std::string_view::npos);
    const auto properties = MessageProperties::read(now.properties);
    CHECK(properties->encoded[MessageProperties::message_id] == encode(Value{"new"}));
    CHECK(properties->encoded[MessageProperties::user_id] == encode(Value::binary("user")));
    CHECK(properties->encoded[MessageProperties::subject] == encode(Value::symbol("odd")));
    CHECK(now.application_properties.ends_with(std::string{"\xb1\0\0\0\1k\x54\x05", 8} +
                                               encode(Value{"mark"}) +
                                               encode(Value{std::int32_t{1}})));
    CHECK(now.application_properties.find("Broken") == std::string_view::npos);
    CHECK(now.application_properties.find(time_left_property) == std::string_view::npos);
    CHECK(now.body == body);
    CHECK(now.footer == footer);
}

TEST_CASE("encode_resent: the time to live begins anew, and an expiry of its own goes") {
    const Timestamp created{1000};
    const Timestamp expires{2000};
    const auto with_times = [&](const std::string& header) {
        return header + fields_of({"m", {}, {}, {}, {}, {}, {}, {}, expires, created}) +
               section_of(0x75, Value::binary("b"));
    };
    std::string encoded;
    const auto time = [&](const MessageSections& sections, MessageProperties::Field field) {
        const auto value = MessageProperties::read(sections.properties)->encoded[field];
        return value.empty() ? Value{} : *decode(value);
    };
    const MessageSections timed =
        resent(with_times(section_of(0x70, Value::list({{}, {}, std::uint32_t{5000}}))), encoded);
    const std::int64_t now = Timestamp::of(noon.wall).milliseconds;
    CHECK(time(timed, MessageProperties::creation_time) == Value{Timestamp{now}});
    CHECK(time(timed, MessageProperties::absolute_expiry_time) == Value{Timestamp{now + 5000}});
    const MessageSections untimed = resent(with_times(""), encoded);
    CHECK(time(untimed, MessageProperties::creation_time) == Value{created});
    CHECK(time(untimed, MessageProperties::absolute_expiry_time).is_null());
}

TEST_CASE("encode_resent: a message with a malformed section is not sent again") {
    const auto received =
        parse(section_of(0x74, Value::list({"no map"})) + section_of(0x75, Value::binary("b")));
    const auto encoded = encode_resent(*received, {.message_id = encode(Value{"new"})}, noon.wall);
    REQUIRE_FALSE(encoded);
    CHECK(encoded.failure().code == Errc::protocol_error);
}

TEST_CASE("encode_delivery: keys of any type and form are kept where a section is changed") {
    const std::string odd_key = encode(Value{std::uint64_t{9}}) + encode(Value{"nine"});
    const auto content = parse(section_of(0x72, Value::map({{std::uint64_t{9}, "nine"}})) +
                               section_of(0x74, Value::map({{std::uint64_t{9}, "nine"}})) +
                               section_of(0x75, Value::binary("b")));
    const DeliveryFacts facts{
        .sequence_number = 42,
        .dead_letter = std::make_shared<const DeadLetterInfo>(DeadLetterInfo{.reason = "Broken"})};
    const std::string wire = encode_delivery(*content, {.facts = facts}, noon);
    const auto sections = MessageSections::find(wire);
    REQUIRE(sections);
    CHECK(sections->message_annotations.find(odd_key) != std::string_view::npos);
    CHECK(sections->application_properties.find(odd_key) != std::string_view::npos);
}
