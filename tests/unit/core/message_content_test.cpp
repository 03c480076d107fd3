// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <sessionq/error.hpp>
#include <sessionq/received_message.hpp>

#include "core/message_size.hpp"
#include "support/code_of.hpp"

using namespace sessionq;

namespace {

/// A message with every member.
Message whole_message() {
    return {.body = "b",
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
}

} // namespace

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

TEST_CASE("DecodedContent: its size counts a value and a sequence") {
    const std::size_t empty = DecodedContent{Message{}}.bytes();
    CHECK(DecodedContent{Message::of_value("12345")}.bytes() == empty + 5);
    CHECK(core::size_of(Message::of_value(AmqpMap{{"ab", "cde"}, {"f", AmqpList{"gh"}}})) == 8);
    CHECK(core::size_of(Message::of_sequence({"ab", "c"})) == 3);
    CHECK(core::values_in(Message::of("bytes")) == 0);
    CHECK(core::values_in(Message::of_value("text")) == 1);
    CHECK(core::values_in(Message::of_value(AmqpMap{{"f", AmqpList{"g", 5}}})) == 5);
    CHECK(core::values_in(Message::of_sequence({"ab", "c"})) == 3);
    const DecodedContent list{Message::of_sequence({"ab", "c"})};
    CHECK(list.bytes() == empty + 3 + list.body().size());
    CHECK(list.wire_bytes() >= 3);
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
    const Message whole = whole_message();
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

TEST_CASE("DecodedContent: one text property by its name") {
    const DecodedContent content{whole_message()};
    CHECK(content.text(TextField::session_id) == "s");
    CHECK(content.text(TextField::message_id) == "m");
    CHECK(content.text(TextField::subject) == "subject");
    CHECK(content.text(TextField::correlation_id) == "c");
    CHECK(content.text(TextField::reply_to) == "r");
    CHECK(content.text(TextField::reply_to_session_id) == "rs");
    CHECK(content.text(TextField::to) == "t");
    CHECK(content.text(TextField::content_type) == "text");
    CHECK(content.text(TextField::subject).data() == content.message().subject.data());
    CHECK(content.MessageContent::text(TextField::to) == "t");
    CHECK(DecodedContent{Message{}}.text(TextField::session_id).empty());
}

TEST_CASE("ReceivedMessage: the text properties, each a view into the content") {
    const auto content = std::make_shared<const DecodedContent>(whole_message());
    const ReceivedMessage received{content, {}};
    CHECK(received.subject() == "subject");
    CHECK(received.correlation_id() == "c");
    CHECK(received.reply_to() == "r");
    CHECK(received.reply_to_session_id() == "rs");
    CHECK(received.to() == "t");
    CHECK(received.content_type() == "text");
    CHECK(received.to().data() == content->message().to.data());
    CHECK(test::code_of([] { static_cast<void>(ReceivedMessage{}.subject()); }) ==
          Errc::invalid_state);
}

TEST_CASE("ReceivedMessage: one property, also as a type") {
    const ReceivedMessage received{
        std::make_shared<const DecodedContent>(
            Message{.properties = {{"number", 5}, {"text", "t"}, {"null", std::monostate{}}}}),
        {}};
    CHECK(received.property("number") == PropertyValue{5});
    CHECK(received.property("null") == PropertyValue{});
    CHECK_FALSE(received.property("none"));
    CHECK(received.property<double>("number") == 5.0);
    CHECK(received.property<std::uint8_t>("number") == std::uint8_t{5});
    CHECK(received.property<std::string>("text") == "t");
    CHECK_FALSE(received.property<std::string>("number"));
    CHECK_FALSE(received.property<int>("text"));
    CHECK_FALSE(received.property<int>("null"));
    CHECK_FALSE(received.property<int>("none"));
}

TEST_CASE("ReceivedMessage: a copy to send on has all but what belongs to the delivery") {
    Message sent = whole_message();
    sent.properties["DeadLetterReason"] = "why";
    sent.properties["DeadLetterErrorDescription"] = "how";
    const ReceivedMessage received{std::make_shared<const DecodedContent>(sent),
                                   {.sequence_number = 7}};
    Message expected = whole_message();
    expected.scheduled_enqueue_time.reset();
    expected.deadline = Deadline::never();
    CHECK(received.copy() == expected);
    CHECK(received.content() == sent); // as it was
    CHECK(test::code_of([] { static_cast<void>(ReceivedMessage{}.copy()); }) ==
          Errc::invalid_state);
}

TEST_CASE("Message: is equal if every member is") {
    const auto differs = [](auto change) {
        Message changed = whole_message();
        change(changed);
        return changed != whole_message();
    };
    CHECK(whole_message() == whole_message());
    CHECK(differs([](Message& message) { message.body += 'x'; }));
    CHECK(differs([](Message& message) { message.session_id.reset(); }));
    CHECK(differs([](Message& message) { message.properties["p"] = 1; }));
    CHECK(differs([](Message& message) { message.time_to_live.reset(); }));
    CHECK(differs([](Message& message) { message.deadline = {}; }));
    Message narrow = whole_message();
    Message wide = whole_message();
    narrow.properties["n"] = PropertyValue{std::int64_t{5}, ValueType::int16};
    wide.properties["n"] = 5;
    CHECK(narrow == wide);
}
