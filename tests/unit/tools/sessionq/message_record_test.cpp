// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <limits>

#include "tools/sessionq/message_record.hpp"

using namespace sessionq;
using namespace sessionq::cli;
using namespace std::chrono;

namespace {

const std::string not_text = std::string{"a\0b\xff\xfe", 5};

Message message_of(const std::string& line) { return read_record(line, {}, WallTime{}); }

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
    Message message = Message::text("ada", "pl\xc3\xa4"
                                           "ced\n\x1b[2J");
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
    Message pattern = Message::text("ada", "");
    pattern.subject = "s";
    pattern.properties = {{"a", std::int64_t{1}}, {"b", std::int64_t{2}}};
    check_equal(read_record("{}", pattern, WallTime{}), pattern);
    const Message made = read_record(R"({"session":"ben","properties":{"b":3}})", pattern, {});
    CHECK(made.session_id == "ben");
    CHECK(made.subject == "s");
    CHECK(made.properties == Properties{{"a", std::int64_t{1}}, {"b", std::int64_t{3}}});
    CHECK(message_of(R"({"session":""})").session_id == "");
    CHECK(read_record(R"({"delay":"2s"})", {}, WallTime{} + 1s).scheduled_enqueue_time ==
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
    CHECK_FALSE(record_complaint(R"({"properties":{"a":{"double":"1"}}})").empty());
    CHECK(record_complaint(R"({"properties":{"a":{"time":"x"}}})")
              .starts_with("properties.a.time: is not a time"));
}
