// SPDX-License-Identifier: MIT
#include "groups/wire_message.hpp"

#include <doctest/doctest.h>

#include "amqp/codec/encoder.hpp"
#include "amqp/codec/message_codec.hpp"

using namespace sessionq;

namespace {

constexpr WallTime when{std::chrono::milliseconds{1'700'000'000'123}};

std::string encoded(const Message& message) {
    return groups::encode_for_broker(message, "x-opt-delivery-time", {});
}

amqp::MessageSections sections_of(const std::string& message) {
    return amqp::MessageSections::find(message).value();
}

std::optional<std::int64_t> annotated(const std::string& message, std::string_view name) {
    const auto value =
        amqp::decode(amqp::find_entry(sections_of(message).message_annotations, name));
    return value ? value->integer() : std::nullopt;
}

} // namespace

TEST_CASE("wire message: it is durable, and nothing else of it changes") {
    Message message = Message::of("body").in_session("a");
    message.properties.emplace("colour", "red");
    const std::string plain = amqp::encode_message(message, {});
    const std::string durable = encoded(message);
    const auto before = sections_of(plain);
    const auto after = sections_of(durable);
    CHECK(amqp::MessageHeader::read(after.header).value().durable);
    CHECK(after.message_annotations.empty());
    CHECK(after.properties == before.properties);
    CHECK(after.application_properties == before.application_properties);
    CHECK(after.body == before.body);
}

TEST_CASE("wire message: the other fields of a header are kept") {
    Message brief = Message::of("body").in_session("a");
    brief.time_to_live = std::chrono::seconds{5};
    const std::string durable = encoded(brief);
    const auto header = amqp::MessageHeader::read(sections_of(durable).header).value();
    CHECK(header.durable);
    CHECK(header.time_to_live == 5000);
}

TEST_CASE("wire message: the delivery time is added to the other annotations, and nothing else "
          "changes") {
    Message later = Message::of("body").in_session("a");
    later.scheduled_enqueue_time = when;
    const std::string plain = amqp::encode_message(later, {});
    const std::string told = encoded(later);
    CHECK(annotated(told, "x-opt-delivery-time") == 1'700'000'000'123);
    const auto before = sections_of(plain);
    const auto after = sections_of(told);
    CHECK(amqp::MessageHeader::read(after.header).value().durable);
    CHECK(amqp::find_entry(after.message_annotations, "x-opt-scheduled-enqueue-time") ==
          amqp::find_entry(before.message_annotations, "x-opt-scheduled-enqueue-time"));
    CHECK(after.properties == before.properties);
    CHECK(after.body == before.body);
}
