// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <limits>

#include "amqp/base64.hpp"
#include "amqp/codec/delivery_codec.hpp"
#include "amqp/codec/encoded_content.hpp"
#include "amqp/codec/encoder.hpp"
#include "amqp/codec/message_codec.hpp"
#include "support/random_message.hpp"
#include "tools/sessionq/message_record.hpp"
#include "tools/sessionq/property_json.hpp"

using namespace sessionq;
using namespace sessionq::cli;
using namespace std::chrono;

namespace {

const std::string not_text = std::string{"a\0b\xff\xfe", 5};

Message message_of(const std::string& line) { return read_record(line, {}, WallTime{}).message; }

std::string record_complaint(const std::string& line) {
    try {
        static_cast<void>(message_of(line));
    } catch (const RecordError& error) {
        return error.what();
    }
    return {};
}

ReceivedMessage received(Message message, DeliveryFacts facts = {}) {
    return {std::make_shared<const DecodedContent>(std::move(message)), std::move(facts)};
}

Message full_message() {
    Message message = Message::of("pl\xc3\xa4"
                                  "ced\n\x1b[2J")
                          .in_session("ada");
    message.message_id = "m-1";
    message.subject = "s";
    message.correlation_id = "c";
    message.reply_to = "r";
    message.reply_to_session_id = "rs";
    message.to = "t";
    message.content_type = "text/plain";
    message.time_to_live = 90s;
    message.priority = 9;
    message.scheduled_enqueue_time = sys_days{2026y / January / 31} + 12h + 5ms;
    message.properties = {{"null", std::monostate{}},
                          {"bool", true},
                          {"int", std::int64_t{-5}},
                          {"uint", std::uint64_t{UINT64_MAX}},
                          {"double", 1.0},
                          {"infinite", std::numeric_limits<double>::infinity()},
                          {"text", std::string{"red"}},
                          {"no text", not_text},
                          {"time", WallTime{} + 1ms},
                          {"bytes", std::vector<std::byte>{std::byte{0}, std::byte{0xff}}}};
    return message;
}

void check_equal(const Message& one, const Message& other) {
    CHECK(one.body == other.body);
    CHECK(one.session_id == other.session_id);
    CHECK(one.message_id == other.message_id);
    CHECK(one.subject == other.subject);
    CHECK(one.correlation_id == other.correlation_id);
    CHECK(one.reply_to == other.reply_to);
    CHECK(one.reply_to_session_id == other.reply_to_session_id);
    CHECK(one.to == other.to);
    CHECK(one.content_type == other.content_type);
    CHECK(one.time_to_live == other.time_to_live);
    CHECK(one.priority == other.priority);
    CHECK(one.scheduled_enqueue_time == other.scheduled_enqueue_time);
    CHECK(one.properties == other.properties);
}

} // namespace

TEST_CASE("message record: what is printed is read again, with all members") {
    const DeliveryFacts facts{
        .sequence_number = 7,
        .delivery_count = 2,
        .expires_at = WallTime{} + 1s,
        .dead_letter = std::make_shared<const DeadLetterInfo>(DeadLetterInfo{"why", not_text}),
        .state = MessageState::deferred};
    const std::string line = line_of(record_of(received(full_message(), facts)));
    CHECK(line.find('\x1b') == std::string::npos);
    CHECK(line.find('\n') == line.size() - 1);
    const Json record = Json::parse(line);
    CHECK(record["sequence_number"] == 7);
    CHECK(record["delivery_count"] == 2);
    CHECK(record["state"] == "deferred");
    CHECK(record["expires"] == "1970-01-01T00:00:01Z");
    CHECK(record["dead_letter"]["reason"] == "why");
    CHECK(record["dead_letter"]["description_base64"] == "YQBi//4=");
    check_equal(message_of(line), full_message());
}

TEST_CASE("message record: properties of every type are read with their types") {
    core::Random random{9};
    for (int i = 0; i < 200; ++i) {
        const auto content =
            amqp::EncodedContent::make(tests::random_message(random), amqp::ClockReading{}).value();
        const ReceivedMessage message{content, {}};
        const Message read = message_of(line_of(record_of(message)));
        const Properties& properties = message.properties();
        REQUIRE(read.properties.size() == properties.size());
        for (const auto& [name, value] : properties) {
            CAPTURE(name);
            const PropertyValue& again = read.properties.at(name);
            CHECK(again.type() == value.type());
            CHECK(json_of(again) == json_of(value));
        }
    }
}

namespace {

std::shared_ptr<const amqp::EncodedContent> content_of(std::string_view encoded) {
    return amqp::EncodedContent::make(encoded, {}).value();
}

/// The sections that a tool must keep, of a message that a broker delivers.
std::string_view kept(const amqp::EncodedContent& content) {
    const std::string_view header = content.sections().header;
    return content.encoded().substr(header.size());
}

} // namespace

TEST_CASE("message record: what is printed is read again to the same bytes") {
    core::Random random{17};
    for (int i = 0; i < 300; ++i) {
        // Without a header: brokers write one of their own.
        const std::string sent = tests::random_message(random, {.hop_sections = i % 2 == 0});
        const auto original = content_of(sent);
        const std::string line = line_of(record_of({original, {.sequence_number = 5}}));
        const Record read = read_record(line, {}, WallTime{});
        const auto again = std::dynamic_pointer_cast<const amqp::EncodedContent>(read.exact);
        REQUIRE(again != nullptr);
        CHECK(again->header().durable == original->header().durable);
        CHECK(again->header().priority == original->header().priority);
        CHECK(again->time_to_live() == original->time_to_live());
        const bool ends = original->time_to_live() && original->absolute_expiry_time();
        if (!ends) { // a time to live begins anew
            CHECK(kept(*again) == kept(*original));
        }
        CHECK(again->sections().body == original->sections().body);
        CHECK(again->sections().application_properties ==
              original->sections().application_properties);
        CHECK(again->sections().footer == original->sections().footer);
        CHECK(line_of(record_of({again, {.sequence_number = 5}})) == line);
    }
}

TEST_CASE("message record: the facts of a delivery are not sent again") {
    const DeliveryFacts facts{.sequence_number = 7, .delivery_count = 3};
    const amqp::DeliveryNotes notes{
        .facts = facts, .locked_until = WallTime{} + 1s, .lock_token = core::Uuid::of(1, 2)};
    core::Random random{18};
    const auto original = content_of(tests::random_message(random));
    const auto delivered = content_of(amqp::encode_delivery(*original, notes, {}));
    const Record read = read_record(line_of(record_of({delivered, facts})), {}, WallTime{});
    const auto again = std::dynamic_pointer_cast<const amqp::EncodedContent>(read.exact);
    REQUIRE(again != nullptr);
    CHECK(again->header().delivery_count == 0);
    CHECK_FALSE(again->annotation("x-opt-sequence-number"));
    CHECK_FALSE(again->annotation("x-opt-locked-until"));
    CHECK(amqp::find_entry(again->sections().delivery_annotations, "x-opt-lock-token").empty());
    CHECK(again->sections().body == original->sections().body);
}

TEST_CASE("message record: a message of ours needs no exact sections") {
    const auto content = content_of(amqp::encode_message(full_message(), {}));
    const Json record = record_of({content, {}});
    CHECK_FALSE(record.contains("encoded"));
    CHECK(read_record(record.dump(), {}, WallTime{}).exact == nullptr);
}

TEST_CASE("message record: an edited member counts, and the rest stays byte for byte") {
    core::Random random{19};
    std::string sent;
    do { // one with all that is asked below
        sent = tests::random_message(random);
    } while (content_of(sent)->sections().application_properties.empty() ||
             content_of(sent)->sections().message_annotations.empty() ||
             content_of(sent)->body_kind() != BodyKind::value);
    const auto original = content_of(sent);
    Json record = record_of({original, {}});
    REQUIRE(record.contains("encoded"));
    record["session"] = "other";
    record["properties"]["new"] = 5;
    const auto edited = std::dynamic_pointer_cast<const amqp::EncodedContent>(
        read_record(record.dump(), {}, WallTime{}).exact);
    REQUIRE(edited != nullptr);
    CHECK(edited->session_id() == "other");
    CHECK(edited->property("new") == PropertyValue{5});
    CHECK(edited->sections().body == original->sections().body);
    CHECK(edited->sections().message_annotations == original->sections().message_annotations);
    CHECK(edited->properties().encoded[amqp::MessageProperties::message_id] ==
          original->properties().encoded[amqp::MessageProperties::message_id]);
    record.erase("body_base64");
    record["body"] = "new";
    const auto rewritten = read_record(record.dump(), {}, WallTime{}).exact;
    CHECK(rewritten->body() == "new");
    CHECK(rewritten->body_kind() == BodyKind::data);
    // An option of the command line holds where the record has no member.
    record.erase("subject");
    CHECK(read_record(record.dump(), {.subject = "mine"}, WallTime{}).exact->message().subject ==
          "mine");
}

TEST_CASE("message record: what is wrong with exact sections is named") {
    CHECK(record_complaint(R"({"encoded":5})") == "encoded: is not an object");
    CHECK(record_complaint(R"({"encoded":{"bodi":""}})") == "encoded: unknown section 'bodi'");
    CHECK(record_complaint(R"({"encoded":{"body":"x"}})") == "encoded.body: is not base64");
    CHECK(record_complaint(R"({"encoded":{"body":"AAAA"}})").starts_with("encoded: the message"));
}

TEST_CASE("message record: year 9999 is read again") {
    Message message = Message::of("b").in_session("s");
    message.time_to_live = milliseconds{251'702'300'799'999};
    message.scheduled_enqueue_time = WallTime::max();
    message.properties = {{"far", FarTime{milliseconds{253'402'300'799'999}}}};
    const DeliveryFacts facts{.enqueued_time = WallTime{}, .expires_at = WallTime::max()};
    const Json record = record_of(received(message, facts));
    CHECK(record["expires"] == "beyond 2261");
    CHECK(record["scheduled"] == "9999-12-31T23:59:59.999Z");
    CHECK(record["properties"]["far"]["time"] == "9999-12-31T23:59:59.999Z");
    check_equal(message_of(record.dump()), message);
}

TEST_CASE("message record: types that JSON has no word for are named") {
    CHECK(json_of(PropertyValue{std::int64_t{5}}) == Json(5));
    CHECK(json_of(PropertyValue{std::int64_t{5}, ValueType::int32}).dump() == R"({"int32":5})");
    CHECK(json_of(PropertyValue{std::uint64_t{5}}).dump() == R"({"uint64":5})");
    CHECK(json_of(PropertyValue{1.5, ValueType::float32}).dump() == R"({"float":1.5})");
    CHECK(json_of(PropertyValue{*Decimal::parse("7.50")}).dump() == R"({"decimal128":"7.50"})");
    CHECK(json_of(PropertyValue{EncodedValue{"\x45"}}).dump() == R"({"amqp":"RQ=="})");
    CHECK(json_of(PropertyValue{FarTime{milliseconds::max()}}).contains("amqp"));
    CHECK(message_of(R"({"properties":{"d":{"decimal":"7.5"},"n":{"uint8":7}}})").properties ==
          Properties{{"d", *Decimal::parse("7.5")}, {"n", std::int64_t{7}}});
    CHECK(record_complaint(R"({"properties":{"a":{"uint8":256}}})") ==
          "properties.a.uint8: is no value of this type");
    CHECK(
        record_complaint(R"({"properties":{"a":{"uiid":"x"}}})").ends_with("did you mean 'uuid'?"));
}

TEST_CASE("message record: a message that ServiceBusExplorer saved") {
    const Message message = message_of(R"({
        "body": {"order": 7, "items": []},
        "contentType": "application/json", "correlationId": "c", "deadLetterSource": null,
        "deliveryCount": 1, "enqueuedSequenceNumber": 117004163,
        "enqueuedTimeUtc": "2021-08-13T07:49:14.7043957Z",
        "expiresAtUtc": "9999-12-31T23:59:59.9999999", "forcePersistence": false,
        "isBodyConsumed": false, "label": "l", "lockedUntilUtc": null, "lockToken": null,
        "messageId": "m", "partitionKey": "s",
        "properties": [{"key": "text", "type": "String", "value": "red"},
                       {"key": "count", "type": "Int32", "value": "5"},
                       {"key": "flag", "type": "Boolean", "value": "True"},
                       {"key": "none", "value": null}],
        "replyTo": "r", "replyToSessionId": null, "scheduledEnqueueTimeUtc": "0001-01-01T00:00:00",
        "sequenceNumber": 5, "sessionId": "s", "size": 100, "state": 0,
        "timeToLive": "10675199.02:48:05.4775807", "to": null})");
    CHECK(message.body == R"({"order":7,"items":[]})");
    CHECK(message.message_id == "m");
    CHECK(message.session_id == "s");
    CHECK(message.subject == "l");
    CHECK(message.correlation_id == "c");
    CHECK(message.reply_to == "r");
    CHECK(message.content_type == "application/json");
    CHECK(message.partition_key == "s");
    CHECK_FALSE(message.time_to_live);
    CHECK_FALSE(message.scheduled_enqueue_time);
    CHECK(message.properties ==
          Properties{{"text", "red"}, {"count", std::int64_t{5}}, {"flag", true}, {"none", {}}});
    CHECK(message.properties.at("count").type() == ValueType::int32);
    const Message older = message_of(
        R"({"messageId": "m", "body": "text", "properties": {"a": "x", "n": 5},
            "timeToLive": "14.00:00:00", "scheduledEnqueueTimeUtc": "2026-01-31T12:00:00Z"})");
    CHECK(older.body == "text");
    CHECK(older.properties == Properties{{"a", "x"}, {"n", std::int64_t{5}}});
    CHECK(older.time_to_live == 14 * 24h);
    CHECK(older.scheduled_enqueue_time == WallTime{sys_days{2026y / January / 31} + 12h});
    CHECK(record_complaint(R"({"messageId": 5})") == "messageId: is not a string");
    CHECK(
        record_complaint(
            R"({"messageId": "m", "properties": [{"key": "a", "type": "Int32", "value": "x"}]})") ==
        "properties.a: 'x' is no Int32");
}

TEST_CASE("message record: bytes that are not UTF-8 are base64, in every text") {
    Message message;
    message.body = not_text;
    message.session_id = not_text;
    message.message_id = not_text;
    const Json record = Json::parse(line_of(record_of(received(message))));
    CHECK(record["body_base64"] == "YQBi//4=");
    CHECK(record["session_base64"] == "YQBi//4=");
    CHECK_FALSE(record.contains("body"));
    check_equal(message_of(record.dump()), message);
    Message named;
    named.properties = {{not_text, std::string{"x"}}};
    CHECK(Json::accept(line_of(record_of(received(named)))));
}

TEST_CASE("message record: a line needs nothing, and holds over the options") {
    Message pattern = Message::of("").in_session("ada");
    pattern.subject = "s";
    pattern.properties = {{"a", std::int64_t{1}}, {"b", std::int64_t{2}}};
    check_equal(read_record("{}", pattern, WallTime{}).message, pattern);
    const Message made =
        read_record(R"({"session":"ben","properties":{"b":3}})", pattern, {}).message;
    CHECK(made.session_id == "ben");
    CHECK(made.subject == "s");
    CHECK(made.properties == Properties{{"a", std::int64_t{1}}, {"b", std::int64_t{3}}});
    CHECK(message_of(R"({"session":""})").session_id == "");
    CHECK(read_record(R"({"delay":"2s"})", {}, WallTime{} + 1s).message.scheduled_enqueue_time ==
          WallTime{} + 3s);
    CHECK(message_of(R"({"body":"a\u0000b"})").body == std::string("a\0b", 3));
}

TEST_CASE("message record: what is wrong is named") {
    CHECK(record_complaint("") == "not valid JSON at byte 1");
    CHECK(record_complaint("{\"body\":\"\xff\"}") == "not valid JSON at byte 10");
    CHECK(record_complaint("[]") == "not a JSON object");
    CHECK(record_complaint(R"({"n":1e999})") == "not valid JSON: a number is out of range");
    CHECK(record_complaint(R"({"sesion":"a"})") ==
          "unknown member 'sesion'; did you mean 'session'?");
    CHECK(record_complaint(R"({"body":5})") == "body: is not a string");
    CHECK(record_complaint(R"({"body_base64":"x"})") == "body_base64: is not base64");
    CHECK(record_complaint(R"({"id":"x","id_base64":"eA=="})") ==
          "id: is given twice, also as id_base64");
    CHECK(record_complaint(R"({"priority":256})") == "priority: is not 0 to 255");
    CHECK(record_complaint(R"({"priority":-1})") == "priority: is not 0 to 255");
    CHECK(record_complaint(R"({"time_to_live":5})") == "time_to_live: is not a string");
    CHECK_FALSE(record_complaint(R"({"time_to_live":"5"})").empty());
    CHECK_FALSE(record_complaint(R"({"scheduled":"soon"})").empty());
    CHECK(record_complaint(R"({"delay":"1s","scheduled":"2026-01-31T12:00:00Z"})") ==
          "delay: is given together with scheduled");
    CHECK(record_complaint(R"({"properties":[]})") == "properties: is not an object");
    CHECK(record_complaint(R"({"properties":{"a":[1]}})") ==
          "properties.a: is a list; a property has one value");
    CHECK_FALSE(record_complaint(R"({"properties":{"a":{}}})").empty());
    CHECK_FALSE(record_complaint(R"({"properties":{"a":{"double":"one"}}})").empty());
    CHECK(record_complaint(R"({"properties":{"a":{"time":"x"}}})")
              .starts_with("properties.a.time: is not a time"));
}

TEST_CASE(
    "message record: a message that cannot be decoded is shown as far as it can be, and whole "
    "as bytes") {
    const std::string bad{"\0\x53\x74\xc1\x05\x02\xa1\x01k\x46", 10};
    const std::string wire = amqp::encode(amqp::Value::described(
                                 std::uint64_t{0x73}, amqp::Value::list({"m-1", {}, "to"}))) +
                             bad +
                             std::string{"\0\x53\x75\xa0\x04"
                                         "body",
                                         9};
    const ReceivedMessage message{amqp::EncodedContent::make(wire, amqp::ClockReading{}).value(),
                                  {.sequence_number = 7}};
    const Json record = record_of(message);
    CHECK(record["sequence_number"] == 7);
    CHECK(record["id"] == "m-1");
    CHECK(record["body"] == "body");
    CHECK(record["error"].get<std::string>().find("malformed application property 'k'") !=
          std::string::npos);
    CHECK(record["encoded"]["application_properties"] == amqp::base64(bad));
    CHECK(record["encoded"].contains("properties"));
    CHECK(record_complaint(line_of(record)) == "encoded: the message cannot be decoded");
}

TEST_CASE("message record: each message that a broker takes can be shown, whatever its bytes") {
    core::Random random{21};
    std::size_t shown = 0;
    for (int i = 0; i < 5'000; ++i) {
        const std::string wire = tests::damaged(tests::random_message(random), random);
        const auto content = amqp::EncodedContent::make(wire, amqp::ClockReading{});
        if (!content.ok()) {
            continue;
        }
        const bool is_readable = !content.value()->find_unreadable();
        shown += is_readable ? 1 : 0;
        Json record;
        REQUIRE_NOTHROW(record = record_of(ReceivedMessage{content.value(), {}}));
        CHECK(Json::accept(line_of(record)));
        CHECK((record.contains("error") && is_readable) == false);
    }
    CHECK(shown > 500);
}
