// SPDX-License-Identifier: MIT
#include "groups/arrival.hpp"

#include <algorithm>
#include <utility>

#include "amqp/codec/decoder.hpp"
#include "core/log.hpp"
#include "groups/receiver_context.hpp"

namespace sessionq::groups {
namespace {

std::optional<std::int64_t> group_sequence_of(const amqp::EncodedContent& content) {
    amqp::Decoder section{content.sections().properties};
    const auto list = section.read_descriptor() ? section.read_list() : std::nullopt;
    if (!list || list->count <= amqp::MessageProperties::group_sequence) {
        return std::nullopt; // most senders set none, and their property lists end before it
    }
    const auto value = content.properties().value(amqp::MessageProperties::group_sequence);
    return value ? value->integer() : std::nullopt;
}

} // namespace

std::optional<Arrival> take_arrival(ReceiverContext& context, amqp::DeliveryHandle delivery,
                                    std::string_view encoded) {
    auto received = amqp::decode_delivery(encoded, context.connection.reading());
    if (!received.ok()) {
        core::log(LogLevel::error, "groups", received.failure().to_string());
        delivery.settle(
            {.kind = amqp::OutcomeKind::rejected,
             .error = {.name = "amqp:decode-error", .text = "the message cannot be decoded"}});
        return std::nullopt;
    }
    Arrival made{.received = std::move(received).value()};
    const amqp::EncodedContent& content = *made.received.content;
    made.group = content.session_id().value_or("");
    made.group_sequence = group_sequence_of(content);
    const std::string_view properties = content.sections().application_properties;
    const std::string_view mark = context.connection.dialect()->first_for_consumer;
    made.dealt_anew =
        !mark.empty() && !properties.empty() && !amqp::find_entry(properties, mark).empty();
    // Not every broker counts the deliveries of a connection that was lost.
    if (context.unanswered.comes_again(content.message_id())) {
        DeliveryFacts& facts = made.received.facts;
        facts.redelivered = true;
        facts.delivery_count = std::max(facts.delivery_count, 1U);
    }
    return made;
}

} // namespace sessionq::groups
