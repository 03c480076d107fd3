// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <sessionq/received_message.hpp>

using namespace sessionq;

TEST_CASE("DecodedContent: returns what the application set") {
    const DecodedContent content{{.body = "b",
                                  .session_id = "",
                                  .message_id = "m",
                                  .time_to_live = std::chrono::milliseconds{5}}};
    CHECK(content.body() == "b");
    CHECK(content.session_id() == "");
    CHECK(content.message_id() == "m");
    CHECK(content.time_to_live() == std::chrono::milliseconds{5});
    CHECK_FALSE(content.scheduled_enqueue_time().has_value());
    CHECK(content.deadline().is_never());
}

TEST_CASE("DecodedContent: with_properties adds and replaces, and leaves the original unchanged") {
    const DecodedContent content{
        {.body = "b", .properties = {{"kept", true}, {"changed", std::int64_t{1}}}}};
    const MessageContentPtr changed =
        content.with_properties({{"changed", std::int64_t{2}}, {"new", std::string{"n"}}});
    CHECK(changed->message().properties ==
          Properties{{"changed", std::int64_t{2}}, {"kept", true}, {"new", std::string{"n"}}});
    CHECK(changed->body() == "b");
    CHECK(content.message().properties == Properties{{"changed", std::int64_t{1}}, {"kept", true}});
}

TEST_CASE("MessageContent: one property by its name") {
    const DecodedContent content{{.body = "b", .properties = {{"one", std::int64_t{1}}}}};
    CHECK(content.property("one") == PropertyValue{std::int64_t{1}});
    CHECK_FALSE(content.property("two").has_value());
    CHECK(content.MessageContent::property("one") == PropertyValue{std::int64_t{1}});
    CHECK_FALSE(content.MessageContent::property("two").has_value());
}

TEST_CASE("DecodedContent: its size grows with everything it holds") {
    const std::size_t empty = DecodedContent{Message{}}.bytes();
    CHECK(DecodedContent{{.body = "12345"}}.bytes() == empty + 5);
    CHECK(DecodedContent{{.session_id = "ab", .properties = {{"p", std::string{"xyz"}}}}}.bytes() ==
          empty + 2 + 1 + 3);
}

TEST_CASE("ReceivedMessage: shares its content and tells a missing session id from an empty one") {
    const ReceivedMessage none{std::make_shared<DecodedContent>(Message{.body = "b"}),
                               {.sequence_number = 7}};
    const ReceivedMessage copy = none;
    CHECK(copy.text().data() == none.text().data());
    CHECK(none.session_id().empty());
    CHECK_FALSE(none.content().session_id.has_value());
    CHECK(copy.sequence_number() == 7);
}

TEST_CASE("DecodedContent: with_changes sets and removes texts and properties") {
    const DecodedContent content{{.body = "b",
                                  .session_id = "s",
                                  .message_id = "m",
                                  .subject = "old",
                                  .to = "t",
                                  .properties = {{"gone", true}, {"changed", true}, {"kept", true}},
                                  .time_to_live = std::chrono::milliseconds{5}}};
    const MessageContentPtr changed = content.with_changes(
        {.properties = {{"changed", false}},
         .removed = {"gone", "changed"},
         .texts = {{TextField::subject, "new"}, {TextField::to, {}}, {TextField::session_id, {}}}});
    CHECK(changed->message().properties == Properties{{"changed", false}, {"kept", true}});
    CHECK(changed->message().subject == "new");
    CHECK(changed->message().to.empty());
    CHECK_FALSE(changed->session_id());
    CHECK(changed->message_id() == "m");
    CHECK(changed->body() == "b");
}

TEST_CASE("DecodedContent: the outline is everything but the body") {
    const Message whole{.body = "b",
                        .session_id = "s",
                        .message_id = "m",
                        .subject = "subject",
                        .correlation_id = "c",
                        .reply_to = "r",
                        .reply_to_session_id = "rs",
                        .to = "t",
                        .content_type = "text",
                        .partition_key = "s",
                        .properties = {{"p", true}},
                        .time_to_live = std::chrono::milliseconds{5},
                        .priority = 7,
                        .scheduled_enqueue_time = WallTime{std::chrono::hours{1}},
                        .deadline = Deadline::at(TimePoint{std::chrono::seconds{9}})};
    const Message outline = DecodedContent{whole}.outline().value();
    CHECK(outline.body.empty());
    CHECK(outline.session_id == whole.session_id);
    CHECK(outline.message_id == whole.message_id);
    CHECK(outline.subject == whole.subject);
    CHECK(outline.correlation_id == whole.correlation_id);
    CHECK(outline.reply_to == whole.reply_to);
    CHECK(outline.reply_to_session_id == whole.reply_to_session_id);
    CHECK(outline.to == whole.to);
    CHECK(outline.content_type == whole.content_type);
    CHECK(outline.partition_key == whole.partition_key);
    CHECK(outline.properties == whole.properties);
    CHECK(outline.time_to_live == whole.time_to_live);
    CHECK(outline.priority == whole.priority);
    CHECK(outline.scheduled_enqueue_time == whole.scheduled_enqueue_time);
    CHECK(outline.deadline == whole.deadline);
}

TEST_CASE("content: wire_bytes counts texts and the least that numbers take") {
    const DecodedContent content{
        {.body = "12345",
         .session_id = "ab",
         .message_id = "c",
         .partition_key = "ab",
         .properties = {{"n", std::int64_t{1}}, {"t", std::string{"xyz"}}}}};
    CHECK(content.wire_bytes() == 5 + 2 + 1 + 2 + (1 + 1) + (1 + 3));
    CHECK(content.bytes() > content.wire_bytes());
}
