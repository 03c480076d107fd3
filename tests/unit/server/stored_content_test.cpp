// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "amqp/codec/message_codec.hpp"
#include "server/stored_content.hpp"

using namespace sessionq;
using namespace sessionq::server;

namespace {

const amqp::ClockReading now{.now = TimePoint{std::chrono::hours{5}},
                             .wall = WallTime{std::chrono::hours{24 * 365 * 50}}};

std::vector<Rule> there_and_back(const std::vector<Rule>& rules) {
    const StoredContent codec{now};
    return codec.decode_rules(codec.encode_rules(rules)).value();
}

} // namespace

TEST_CASE("StoredContent: keeps bytes from the wire, and restores messages made in this process") {
    const StoredContent codec{now};
    std::string scratch;
    const std::string wire = amqp::encode_message(Message::of("body").in_session("s"), now);
    const auto content = amqp::EncodedContent::make(wire, now).value();
    CHECK(codec.encode(*content, now.wall, scratch) == wire);
    CHECK(scratch.empty());

    Message message = Message::of("body").in_session("s");
    message.subject = "subject";
    message.properties = {{"n", std::int64_t{5}}};
    message.time_to_live = std::chrono::milliseconds{1234};
    message.deadline = Deadline::after(std::chrono::seconds{30}, now.now);
    const std::string bytes{codec.encode(DecodedContent{message}, now.wall, scratch)};
    const StoredContent later{
        {.now = TimePoint{std::chrono::hours{1}},
         .wall = now.wall + std::chrono::seconds{10}}}; // another process with other clocks
    const auto back = later.decode(bytes, now.wall).value();
    CHECK(back->message().subject == "subject");
    CHECK(back->message().properties == message.properties);
    CHECK(back->time_to_live() == message.time_to_live);
    CHECK(back->deadline().time() == TimePoint{std::chrono::hours{1}} + std::chrono::seconds{20});
    CHECK(codec.decode("no message", now.wall).failure().code == Errc::protocol_error);
}

TEST_CASE("StoredContent: keeps values and sequences of messages made in this process") {
    const StoredContent codec{now};
    std::string scratch;
    for (const Message& message :
         {Message::of_value("text"), Message::of_value(AmqpMap{{"k", AmqpList{1, true}}}),
          Message::of_sequence({"a", AmqpValue{}})}) {
        const std::string bytes{codec.encode(DecodedContent{message}, now.wall, scratch)};
        CHECK(codec.decode(bytes, now.wall).value()->message() == message);
    }
}

TEST_CASE("StoredContent: restores rules with filters of every kind, and empty lists") {
    const std::vector<Rule> rules{
        {.name = "all"},
        {.name = "none", .filter = FalseFilter{}},
        {.name = "sql", .filter = SqlFilter{"a = 1"}, .action = "SET b = 2"},
        {.name = "empty", .filter = CorrelationFilter{}},
        {.name = "full",
         .filter = CorrelationFilter{.content_type = "a",
                                     .correlation_id = "b",
                                     .message_id = "c",
                                     .reply_to = "d",
                                     .reply_to_session_id = "e",
                                     .session_id = "",
                                     .subject = "g",
                                     .to = "h",
                                     .properties = {{"text", std::string{"x"}},
                                                    {"number", std::int64_t{-1}},
                                                    {"truth", true},
                                                    {"real", 0.5}}}}};
    CHECK(there_and_back(rules) == rules);
    CHECK(there_and_back({}).empty());
}

TEST_CASE("StoredContent: rejects bytes that are not a list of rules") {
    const StoredContent codec{now};
    CHECK_FALSE(codec.decode_rules("").ok());
    std::string bytes = codec.encode_rules({{.name = "sql", .filter = SqlFilter{"a = 1"}}});
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        CHECK_FALSE(codec.decode_rules(std::string_view{bytes}.substr(0, length)).ok());
    }
}
