// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "amqp/codec/delivery_codec.hpp"
#include "amqp/codec/encoder.hpp"
#include "amqp/codec/message_codec.hpp"
#include "codec/samples.hpp"

using namespace sessionq;
using namespace sessionq::amqp;
using namespace std::chrono_literals;
using namespace std::string_literals;

TEST_CASE("encode_delivery: keeps a sender's bytes and adds the broker's annotations") {
    const std::string annotations =
        section_of(0x72, Value::map({{Value::symbol("x-own"), std::int32_t{5}},
                                     {Value::symbol("x-opt-sequence-number"), "forged"}}));
    const std::string properties = section_of(
        0x73,
        Value::list({std::uint64_t{7}, Value::binary("user"), Value{}, Value::symbol("odd")}));
    const std::string application = section_of(0x74, Value::map({{"k", Value::symbol("v")}}));
    const std::string body = section_of(0x77, Value::list({std::int8_t{1}}));
    const auto content = parse(section_of(0x70, Value::list({true, std::uint8_t{9}})) +
                               annotations + properties + application + body);
    const DeliveryFacts facts{
        .sequence_number = 42, .delivery_count = 2, .enqueued_time = noon.wall};
    const std::string wire =
        encode_delivery(*content, {.facts = facts, .locked_until = noon.wall + 30s}, noon);
    const auto sections = MessageSections::find(wire);
    REQUIRE(sections);
    CHECK(sections->properties == properties);
    CHECK(sections->application_properties == application);
    CHECK(sections->body == body);
    const auto header = MessageHeader::read(sections->header);
    CHECK(header->durable);
    CHECK(header->priority == 9);
    CHECK(header->delivery_count == 2);
    CHECK_FALSE(header->first_acquirer);
    CHECK_FALSE(header->time_to_live);
    const auto note = [&](std::string_view name) {
        return decode(find_entry(sections->message_annotations, name)).value_or(Value{});
    };
    CHECK(note("x-own") == Value{std::int32_t{5}});
    CHECK(note("x-opt-sequence-number") == Value{std::int64_t{42}});
    CHECK(note("x-opt-enqueued-time") == Value{Timestamp::of(noon.wall)});
    CHECK(note("x-opt-locked-until") == Value{Timestamp::of(noon.wall + 30s)});
    CHECK(note("x-opt-message-state").is_null());
}

TEST_CASE("encode_delivery: a dead letter's own words replace the properties of these names, and "
          "what it does not say stays") {
    const auto content = parse(section_of(
        0x74, Value::map({{"DeadLetterReason", "before"}, {"DeadLetterErrorDescription", true}})));
    const DeliveryFacts facts{
        .sequence_number = 1,
        .enqueued_time = noon.wall,
        .dead_letter = std::make_shared<const DeadLetterInfo>(DeadLetterInfo{.reason = "now"})};
    const std::string wire = encode_delivery(*content, {.facts = facts}, noon);
    const auto sections = MessageSections::find(wire);
    REQUIRE(sections);
    const std::string_view properties = sections->application_properties;
    CHECK(decode(find_entry(properties, "DeadLetterReason")) == Value{"now"});
    CHECK(decode(find_entry(properties, "DeadLetterErrorDescription")) == Value{true});
}

TEST_CASE("encode_delivery: tells the time to live that the broker enforces, and what the sender "
          "says of its first acquirer") {
    const auto told = [](const std::string& message, std::chrono::milliseconds enforced) {
        const auto content = parse(message + section_of(0x75, Value::binary("b")));
        const DeliveryFacts facts{
            .sequence_number = 1, .enqueued_time = noon.wall, .expires_at = noon.wall + enforced};
        const std::string wire = encode_delivery(*content, {.facts = facts}, noon);
        const auto sections = MessageSections::find(wire);
        REQUIRE(sections);
        const auto header = MessageHeader::read(sections->header);
        CHECK(header->first_acquirer == !message.empty());
        const auto properties = MessageProperties::read(sections->properties);
        REQUIRE(properties);
        const auto expires = properties->time(MessageProperties::absolute_expiry_time);
        const auto created = properties->time(MessageProperties::creation_time);
        CHECK(expires == noon.wall + enforced);
        return std::pair{header->time_to_live.value_or(0),
                         created ? (*expires - *created) / 1ms : 0};
    };
    const Value yes{true};
    const auto with = [&](std::uint32_t time_to_live, bool is_over = false) {
        const auto at = [&](WallTime time) {
            return Value{is_over ? Timestamp{0} : Timestamp::of(time)};
        };
        const WallTime made = noon.wall - 5ms;
        return section_of(0x70, Value::list({yes, {}, time_to_live, yes})) +
               section_of(0x73, Value::list({{},
                                             {},
                                             {},
                                             {},
                                             {},
                                             {},
                                             {},
                                             {},
                                             at(made + std::chrono::milliseconds{time_to_live}),
                                             at(made)}));
    };
    CHECK(told(with(60'000), 5'000ms) == std::pair{5'000U, std::int64_t{5'000}});
    CHECK(told(with(60'000, true), 60'000ms) == std::pair{60'000U, std::int64_t{60'000}});
    CHECK(told("", 5'000ms) == std::pair{5'000U, std::int64_t{0}});
}

TEST_CASE("encode_delivery: keeps a sender's delivery annotations and adds the lock token") {
    const std::string annotations =
        section_of(0x71, Value::map({{Value::symbol("x-own"), "mine"},
                                     {Value::symbol("x-opt-lock-token"), "forged"}}));
    const auto content = parse(annotations + section_of(0x75, Value::binary("b")));
    const core::Uuid token = *core::Uuid::parse("00112233-4455-6677-8899-aabbccddeeff");
    const DeliveryFacts facts{.sequence_number = 1, .enqueued_time = noon.wall};
    const auto annotation = [&](const DeliveryNotes& notes, std::string_view name) {
        const std::string wire = encode_delivery(*content, notes, noon);
        const auto sections = MessageSections::find(wire);
        REQUIRE(sections);
        CHECK_FALSE(MessageHeader::read(sections->header)->first_acquirer);
        return decode(find_entry(sections->delivery_annotations, name)).value_or(Value{});
    };
    const DeliveryNotes locked{.facts = facts, .lock_token = token};
    CHECK(annotation(locked, "x-own") == Value{"mine"});
    CHECK(annotation(locked, "x-opt-lock-token") == Value{token});
    CHECK(annotation({.facts = facts}, "x-own") == Value{"mine"});
    CHECK(annotation({.facts = facts}, "x-opt-lock-token").is_null());
}

TEST_CASE("encode_delivery: always writes a header, dead-letter reasons and a deferred message's "
          "lock token") {
    const DecodedContent content{
        {.body = "b", .properties = {{"DeadLetterReason", std::string{"old"}}, {"k", true}}}};
    const core::Uuid token = *core::Uuid::parse("00112233-4455-6677-8899-aabbccddeeff");
    const DeliveryFacts facts{.sequence_number = 1,
                              .enqueued_time = noon.wall,
                              .expires_at = noon.wall + 1h,
                              .dead_letter = std::make_shared<const DeadLetterInfo>(DeadLetterInfo{
                                  .reason = "r", .description = "d", .source = "orders"}),
                              .state = MessageState::deferred,
                              .enqueued_sequence_number = 77};
    auto delivery = decode_delivery(
        encode_delivery(content, {.facts = facts, .lock_token = token}, noon), noon);
    REQUIRE(delivery.ok());
    const ReceivedDelivery& got = delivery.value();
    CHECK_FALSE(got.content->sections().header.empty());
    CHECK(got.lock_token == token);
    CHECK(got.facts.sequence_number == 1);
    CHECK(got.facts.state == MessageState::deferred);
    CHECK(got.facts.enqueued_time == noon.wall);
    CHECK(got.facts.expires_at == noon.wall + 1h);
    REQUIRE(got.facts.dead_letter);
    CHECK(got.facts.dead_letter->reason == "r");
    CHECK(got.facts.dead_letter->description == "d");
    CHECK(got.facts.dead_letter->source == "orders");
    CHECK(got.facts.enqueued_sequence_number == 77);
    CHECK(got.content->message().properties.size() == 3);
}

TEST_CASE("encode_delivery: tells of a holder that was lost, and no sender can") {
    const DecodedContent content{{.body = "b"}};
    const DeliveryFacts facts{.sequence_number = 1};
    const auto reads = [](const std::string& wire) {
        return decode_delivery(wire, noon).value().holder_lost;
    };
    CHECK(reads(encode_delivery(content, {.facts = facts, .holder_lost = true}, noon)));
    CHECK_FALSE(reads(encode_delivery(content, {.facts = facts}, noon)));
    const std::string forged =
        encode_delivery(content, {.facts = facts, .holder_lost = true}, noon);
    const auto sent = EncodedContent::make(forged, noon).value();
    CHECK_FALSE(reads(encode_delivery(*sent, {.facts = facts}, noon)));
}

TEST_CASE("encode_delivery: a message made in this process shows its enqueue and expiry times") {
    const DecodedContent content{
        {.body = "b", .time_to_live = 5s, .deadline = Deadline::at(noon.now + 30s)}};
    const DeliveryFacts facts{
        .sequence_number = 1, .enqueued_time = noon.wall, .expires_at = noon.wall + 3s};
    const ClockReading later{.now = noon.now + 2s, .wall = noon.wall + 2s};
    const auto delivery = decode_delivery(encode_delivery(content, {.facts = facts}, later), later);
    REQUIRE(delivery.ok());
    CHECK(delivery.value().facts.expires_at == noon.wall + 3s);
    CHECK(delivery.value().content->properties().time(MessageProperties::creation_time) ==
          noon.wall);
    CHECK(delivery.value().facts.deadline == Deadline::at(noon.now + 30s + 1ms));
}

TEST_CASE("decode_delivery: R22: a message's deadline is what was left, less what it waited by the "
          "broker's clock") {
    const auto content =
        parse(encode_message({.body = "b", .deadline = Deadline::at(noon.now + 30s)}, noon));
    // The consumer's clocks have nothing to do with those of sender and broker.
    const WallTime brokers_noon = noon.wall + 77h;
    const DeliveryFacts facts{.enqueued_time = brokers_noon};
    const std::string wire = encode_delivery(*content, {.facts = facts}, noon);
    const auto deadline_at = [&](Duration now, WallTime brokers_now) {
        return decode_delivery(wire, {.now = TimePoint{now}, .wall = brokers_now})
            .value()
            .facts.deadline;
    };
    CHECK(deadline_at(3h, brokers_noon) == Deadline::at(TimePoint{3h + 30s}));
    // The stamp is cut to milliseconds, so the message may have waited one less.
    CHECK(deadline_at(3h, brokers_noon + 10s) == Deadline::at(TimePoint{3h + 20s + 1ms}));
    CHECK(deadline_at(3h, brokers_noon + 1ms) == Deadline::at(TimePoint{3h + 30s}));
    CHECK(deadline_at(3h, brokers_noon + 1h).passed(TimePoint{3h}));
    // A broker's clock that is not known, or that stepped back, never shortens it.
    CHECK(deadline_at(3h, WallTime{}) == Deadline::at(TimePoint{3h + 30s}));
    CHECK(deadline_at(3h, brokers_noon - 10s) == Deadline::at(TimePoint{3h + 30s}));

    // Stamps out of reach overflow nothing.
    for (const WallTime stamp : {WallTime::min(), WallTime::max()}) {
        const std::string odd =
            encode_delivery(*content, {.facts = {.enqueued_time = stamp}}, noon);
        for (const WallTime now : {WallTime::min(), WallTime::max(), brokers_noon}) {
            CHECK(decode_delivery(odd, {.now = TimePoint{3h}, .wall = now}).ok());
        }
        CHECK_FALSE(encode_delivery(DecodedContent{content->message()},
                                    {.facts = {.enqueued_time = stamp}}, noon)
                        .empty());
    }

    const std::string unstamped = encode_delivery(*content, {.facts = {}}, noon);
    CHECK(decode_delivery(unstamped, noon).value().facts.deadline == Deadline::at(noon.now + 30s));
}

TEST_CASE("encode_delivery: without an expiry time only the broker's sections change") {
    const auto content =
        parse(encode_message({.body = "b", .session_id = "s", .time_to_live = 5s}, noon));
    const DeliveryFacts facts{
        .sequence_number = 1, .enqueued_time = noon.wall, .expires_at = noon.wall + 3s};
    DeliveryFacts as_asked = facts;
    as_asked.expires_at = noon.wall + 5s;
    const std::string wire = encode_delivery(*content, {.facts = as_asked}, noon);
    CHECK(MessageSections::find(wire)->properties == content->sections().properties);
    const auto silent = parse(encode_message({.body = "b", .session_id = "s"}, noon));
    const auto told = parse(encode_delivery(*silent, {.facts = facts}, noon));
    CHECK(told->properties().time(MessageProperties::absolute_expiry_time) == noon.wall + 3s);
    CHECK(told->session_id() == "s");
}

TEST_CASE("decode_delivery: reads what Proton wrote") {
    const auto delivery = decode_delivery(by_proton(), noon);
    REQUIRE(delivery.ok());
    const ReceivedDelivery& got = delivery.value();
    CHECK(got.lock_token == some_uuid());
    CHECK(got.locked_until == WallTime{1'700'000'060'000ms});
    CHECK(got.facts.sequence_number == 42);
    CHECK(got.facts.enqueued_time == WallTime{1'700'000'000'500ms});
    CHECK(got.facts.expires_at == WallTime{1'700'000'030'000ms});
    CHECK(got.facts.delivery_count == 2);
    CHECK(got.facts.redelivered);
    CHECK(got.facts.state == MessageState::deferred);
    REQUIRE(got.facts.dead_letter);
    CHECK(got.facts.dead_letter->reason == "why");
    CHECK(got.facts.dead_letter->description == "because");
}

TEST_CASE("decode_delivery: reads a message without broker annotations") {
    const auto delivery =
        decode_delivery(encode_message({.body = "b", .time_to_live = 5s}, noon), noon);
    REQUIRE(delivery.ok());
    CHECK(delivery.value().facts.sequence_number == 0);
    CHECK_FALSE(delivery.value().facts.redelivered);
    CHECK_FALSE(delivery.value().facts.dead_letter);
    CHECK_FALSE(delivery.value().lock_token);
    CHECK_FALSE(delivery.value().locked_until);
    CHECK(delivery.value().facts.expires_at == noon.wall + 5s);
    CHECK_FALSE(decode_delivery("garbage", noon).ok());
}
