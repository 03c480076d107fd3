// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <sessionq/received_message.hpp>

#include "amqp/codec/encoder.hpp"
#include "amqp/codec/message_codec.hpp"
#include "codec/samples.hpp"

using namespace sessionq;
using namespace sessionq::amqp;
using namespace std::chrono_literals;
using namespace std::string_literals;

TEST_CASE("message_codec: the priority travels in the header, and is the standard's without one") {
    CHECK(parse(encode_message({.body = "b"}, noon))->priority() == 4);
    for (const std::uint8_t priority : std::initializer_list<std::uint8_t>{0, 4, 9, 255}) {
        const auto content = parse(encode_message({.body = "b", .priority = priority}, noon));
        CHECK(content->priority() == priority);
        CHECK(content->message().priority == priority);
        CHECK(content->with_properties({{"p", true}})->priority() == priority);
    }
    const auto both = parse(encode_message({.time_to_live = 5s, .priority = 7}, noon));
    CHECK(both->priority() == 7);
    CHECK(both->time_to_live() == 5s);
}

TEST_CASE("message_codec: a decoded message equals the encoded one, with deadline and schedule") {
    const Message sent = rich_message();
    const auto content = parse(encode_message(sent, noon));
    CHECK(content->body() == "body");
    CHECK(content->session_id() == "s-1");
    CHECK(content->message_id() == "m-1");
    CHECK(content->time_to_live() == 5s);
    CHECK(content->scheduled_enqueue_time() == sent.scheduled_enqueue_time);
    CHECK(content->deadline() == sent.deadline);
    const Message& got = content->message();
    CHECK(got.subject == sent.subject);
    CHECK(got.correlation_id == sent.correlation_id);
    CHECK(got.reply_to == sent.reply_to);
    CHECK(got.reply_to_session_id == sent.reply_to_session_id);
    CHECK(got.to == sent.to);
    CHECK(got.content_type == sent.content_type);
    CHECK(got.properties == sent.properties);
    CHECK(got.deadline == sent.deadline);
    CHECK(&content->message() == &got);
}

TEST_CASE("message_codec: the partition key travels as an annotation, beside a schedule or alone") {
    const auto key_of = [](const Message& sent) {
        return parse(encode_message(sent, noon))->message().partition_key;
    };
    CHECK(key_of({.body = "b", .partition_key = "west"}) == "west");
    Message both{.body = "b", .partition_key = "west", .scheduled_enqueue_time = noon.wall};
    CHECK(key_of(both) == "west");
    CHECK(parse(encode_message(both, noon))->scheduled_enqueue_time() == noon.wall);
    CHECK(key_of({.body = "b"}).empty());
    const auto content = parse(encode_message(both, noon));
    CHECK(content->outline()->partition_key == "west");
    CHECK(content->with_properties({{"p", true}})->message().partition_key == "west");
    CHECK(DecodedContent{both}.outline()->partition_key == "west");
}

TEST_CASE("message_codec: a value or a sequence is received as it was sent") {
    const auto bytes = std::vector<std::byte>{std::byte{0}, std::byte{255}};
    const auto nested = AmqpMap{{"lines", AmqpList{AmqpMap{{"part", "bolt"}, {"count", 5}}}},
                                {1, AmqpMap{}},
                                {"none", AmqpValue{}},
                                {"empty", AmqpList{}}};
    const AmqpValue values[] = {"text",      bytes,
                                AmqpValue{}, true,
                                -5,          7U,
                                0.5,         noon.wall,
                                Uuid{},      PropertyValue{std::string{"s"}, ValueType::symbol},
                                AmqpList{},  AmqpList{"a", -5, bytes},
                                nested};
    for (const AmqpValue& value : values) {
        CAPTURE(value);
        const Message sent = Message::of_value(value).in_session("s");
        const auto content = parse(encode_message(sent, noon));
        CHECK(content->body_kind() == BodyKind::value);
        CHECK(content->message() == sent);
        const ReceivedMessage far{content, {}};
        const ReceivedMessage near{std::make_shared<const DecodedContent>(sent), {}};
        CHECK(far.value() == value);
        CHECK(near.value() == value);
        CHECK(near.body_kind() == BodyKind::value);
        CHECK(near.text() == far.text()); // whether it was on a network or not
        CHECK(near.copy() == sent);
        CHECK(far.copy() == sent);
        CHECK(near.shared_content()->wire_bytes() <= content->wire_bytes());
    }
    const Message sent = Message::of_sequence({"a", 5, AmqpList{true}});
    const auto content = parse(encode_message(sent, noon));
    CHECK(content->body_kind() == BodyKind::sequence);
    CHECK(content->message() == sent);
    const DecodedContent near{sent};
    CHECK(near.body_kind() == BodyKind::sequence);
    CHECK(near.body() == content->body());
    CHECK(near.wire_bytes() <= content->wire_bytes());
}

TEST_CASE("message_codec: a map with names and a sequence tell clients of JMS what they are") {
    const auto type_of = [](const Message& sent) {
        const auto content = parse(encode_message(sent, noon));
        const auto found = content->annotation("x-opt-jms-msg-type");
        CHECK((!found || found->type() == ValueType::int8));
        return found ? found->as<int>() : std::nullopt;
    };
    CHECK(type_of(Message::of_value(AmqpMap{{"k", 5}})) == 2);
    CHECK(type_of(Message::of_value(AmqpMap{{"k", 5}, {1, 5}})) == std::nullopt);
    CHECK(type_of(Message::of_sequence({"a"})) == 4);
    CHECK(type_of(Message::of_value("text")) == std::nullopt);
    CHECK(type_of(Message::of("bytes")) == std::nullopt);
}

TEST_CASE("message_codec: no session and the session '' differ") {
    CHECK_FALSE(parse(encode_message({.body = "b"}, noon))->session_id().has_value());
    CHECK(parse(encode_message({.body = "b", .session_id = ""}, noon))->session_id() == "");
}

TEST_CASE("message_codec: R22: a deadline travels as the time left, whatever the clocks say") {
    const std::string bytes =
        encode_message({.body = "b", .deadline = Deadline::at(noon.now + 30s)}, noon);
    for (const Duration apart : {-1h, 0h, 1h}) {
        const ClockReading there{.now = TimePoint{5s},
                                 .wall = noon.wall +
                                         std::chrono::duration_cast<WallTime::duration>(apart)};
        CHECK(EncodedContent::make(bytes, there).value()->deadline() ==
              Deadline::at(TimePoint{35s}));
    }
    const std::string late =
        encode_message({.body = "b", .deadline = Deadline::at(noon.now - 1h)}, noon);
    CHECK(EncodedContent::make(late, noon).value()->deadline() == Deadline::at(noon.now));
}
