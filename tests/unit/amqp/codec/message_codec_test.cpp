#include <doctest/doctest.h>

#include "amqp/codec/encoder.hpp"
#include "amqp/codec/message_codec.hpp"

using namespace sessionq;
using namespace sessionq::amqp;
using namespace std::chrono_literals;
using namespace std::string_literals;

namespace {

const ClockReading noon{.now = TimePoint{1000s}, .wall = WallTime{std::chrono::milliseconds{1'700'000'000'000}}};

std::string section_of(std::uint64_t code, const Value& value) { return encode(Value::described(code, value)); }

std::shared_ptr<const EncodedContent> parse(std::string bytes) {
    auto made = EncodedContent::make(std::move(bytes), noon);
    REQUIRE(made.ok());
    return made.value();
}

Message rich() {
    return {.body = "body",
            .session_id = "s-1",
            .message_id = "m-1",
            .subject = "subject",
            .correlation_id = "c-1",
            .reply_to = "answers",
            .reply_to_session_id = "r-1",
            .to = "there",
            .content_type = "text/plain",
            .properties = {{"binary", std::vector<std::byte>{std::byte{1}, std::byte{0}}},
                           {"flag", true},
                           {"none", {}},
                           {"number", std::int64_t{-5}},
                           {"ratio", 0.5},
                           {"text", std::string{"t"}},
                           {"unsigned", std::uint64_t{1} << 63U},
                           {"when", noon.wall}},
            .time_to_live = 5s,
            .scheduled_enqueue_time = noon.wall + 1min,
            .deadline = Deadline::at(noon.now + 30s)};
}

} // namespace

TEST_CASE("message_codec: a message is decoded as it was encoded, its deadline and schedule included") {
    const Message sent = rich();
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

TEST_CASE("message_codec: no session and the session '' are two things") {
    CHECK_FALSE(parse(encode_message({.body = "b"}, noon))->session_id().has_value());
    CHECK(parse(encode_message({.body = "b", .session_id = ""}, noon))->session_id() == "");
}

TEST_CASE("message_codec: a deadline is carried on the wall clock and comes to its own time line (R22)") {
    const std::string bytes = encode_message({.body = "b", .deadline = Deadline::at(noon.now + 30s)}, noon);
    const ClockReading there{.now = TimePoint{5s}, .wall = noon.wall + 10s};
    CHECK(EncodedContent::make(bytes, there).value()->deadline() == Deadline::at(TimePoint{25s}));
}

TEST_CASE("EncodedContent: bodies of every kind are bytes") {
    const auto body_of = [](std::string bytes) { return std::string{parse(std::move(bytes))->body()}; };
    CHECK(body_of(section_of(0x75, Value::binary("a")) + section_of(0x75, Value::binary("b"))) == "ab");
    CHECK(body_of(section_of(0x77, "text")) == "text");
    CHECK(body_of(section_of(0x77, Value::binary("bytes"))) == "bytes");
    CHECK(body_of(section_of(0x77, Value::map({{"a", true}}))) == encode(Value::map({{"a", true}})));
    CHECK(body_of(section_of(0x76, Value::list({"a"}))) == encode(Value::list({"a"})));
    CHECK(body_of("") == "");
}

TEST_CASE("EncodedContent: message ids of every type are text") {
    const auto id_of = [](Value id) { return std::string{parse(section_of(0x73, Value::list({std::move(id)})))->message_id()}; };
    core::Uuid uuid = *core::Uuid::parse("00112233-4455-6677-8899-aabbccddeeff");
    CHECK(id_of("id") == "id");
    CHECK(id_of(std::uint64_t{7}) == "7");
    CHECK(id_of(uuid) == "00112233-4455-6677-8899-aabbccddeeff");
    CHECK(id_of(Value{}) == "");
}

TEST_CASE("EncodedContent: what is no message is refused, wherever it is cut") {
    const std::string whole = encode_message(rich(), noon);
    for (std::size_t length = 1; length < whole.size(); ++length) {
        const auto made = EncodedContent::make(whole.substr(0, length), noon);
        if (made.ok()) { // cut between two sections
            CHECK(made.value()->body().empty());
        } else {
            CHECK(made.failure().code == Errc::protocol_error);
        }
    }
    CHECK_FALSE(EncodedContent::make("garbage", noon).ok());
    CHECK_FALSE(EncodedContent::make(section_of(0x75, Value::binary("a")) + section_of(0x73, List{}), noon).ok());
    CHECK_FALSE(EncodedContent::make(section_of(0x75, Value::binary("a")) + section_of(0x77, "v"), noon).ok());
    CHECK_FALSE(EncodedContent::make(section_of(0x70, List{}) + section_of(0x70, List{}), noon).ok());
}

TEST_CASE("EncodedContent: application properties that cannot be decoded fail who asks for them, and no one else") {
    const std::string bad = "\0\x53\x74\xc1\x05\x02\xa1\x01k\xff"s + section_of(0x75, Value::binary("b"));
    const auto content = parse(bad);
    CHECK(content->body() == "b");
    CHECK_THROWS_AS(static_cast<void>(content->message()), Error);
}

TEST_CASE("EncodedContent: with_properties changes the application properties alone") {
    const std::string annotations = section_of(0x72, Value::map({{Value::symbol("x-own"), std::int32_t{5}}}));
    const std::string properties = section_of(0x73, Value::list({std::uint64_t{7}, Value::binary("user")}));
    const std::string own = section_of(0x74, Value::map({{"kept", std::int16_t{1}}, {"changed", "old"}}));
    const auto content = parse(annotations + properties + own + section_of(0x77, "v"));
    const MessageContentPtr changed = content->with_properties({{"changed", std::string{"new"}}});
    const auto& encoded = dynamic_cast<const EncodedContent&>(*changed);
    CHECK(encoded.sections().message_annotations == annotations);
    CHECK(encoded.sections().properties == properties);
    CHECK(changed->message_id() == "7");
    CHECK(changed->body() == "v");
    CHECK(decode(find_entry(encoded.sections().application_properties, "kept")) == Value{std::int16_t{1}});
    CHECK(changed->message().properties == Properties{{"changed", std::string{"new"}}, {"kept", std::int64_t{1}}});
}

TEST_CASE("encode_delivery: a stranger's message passes byte for byte, with what the broker says of it") {
    const std::string annotations =
        section_of(0x72, Value::map({{Value::symbol("x-own"), std::int32_t{5}}, {Value::symbol("x-opt-sequence-number"), "forged"}}));
    const std::string properties = section_of(0x73, Value::list({std::uint64_t{7}, Value::binary("user"), Value{}, Value::symbol("odd")}));
    const std::string application = section_of(0x74, Value::map({{"k", Value::symbol("v")}}));
    const std::string body = section_of(0x77, Value::list({std::int8_t{1}}));
    const auto content = parse(section_of(0x70, Value::list({true, std::uint8_t{9}})) + annotations + properties + application + body);
    const DeliveryFacts facts{.sequence_number = 42, .delivery_count = 2, .enqueued_time = noon.wall};
    const std::string wire = encode_delivery(*content, {.facts = facts, .locked_until = noon.wall + 30s}, noon);
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
    const auto note = [&](std::string_view name) { return decode(find_entry(sections->message_annotations, name)).value_or(Value{}); };
    CHECK(note("x-own") == Value{std::int32_t{5}});
    CHECK(note("x-opt-sequence-number") == Value{std::int64_t{42}});
    CHECK(note("x-opt-enqueued-time") == Value{Timestamp::of(noon.wall)});
    CHECK(note("x-opt-locked-until") == Value{Timestamp::of(noon.wall + 30s)});
    CHECK(note("x-opt-message-state").is_null());
}

TEST_CASE("encode_delivery: always a header; dead letters say why, deferred messages carry their token") {
    const DecodedContent content{{.body = "b", .properties = {{"DeadLetterReason", std::string{"old"}}, {"k", true}}}};
    const core::Uuid token = *core::Uuid::parse("00112233-4455-6677-8899-aabbccddeeff");
    const DeliveryFacts facts{.sequence_number = 1,
                              .enqueued_time = noon.wall,
                              .expires_at = noon.wall + 1h,
                              .dead_letter = DeadLetterInfo{.reason = "r", .description = "d"},
                              .state = MessageState::deferred};
    auto delivery = decode_delivery(encode_delivery(content, {.facts = facts, .lock_token = token, .dead_letter_source = "orders"}, noon), noon);
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
    CHECK(got.content->message().properties.size() == 3);
}

TEST_CASE("to_property: integers of every width, symbols and UUIDs have a place") {
    CHECK(to_property(std::uint8_t{1}) == PropertyValue{std::int64_t{1}});
    CHECK(to_property(std::int16_t{-1}) == PropertyValue{std::int64_t{-1}});
    CHECK(to_property(Value::symbol("s")) == PropertyValue{std::string{"s"}});
    CHECK(to_property(1.5F) == PropertyValue{1.5});
    CHECK(to_property(*core::Uuid::parse("00112233-4455-6677-8899-aabbccddeeff")) ==
          PropertyValue{std::string{"00112233-4455-6677-8899-aabbccddeeff"}});
}
