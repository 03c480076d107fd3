// SPDX-License-Identifier: MIT
#include "groups/arrival.hpp"

#include <utility>

#include "amqp/codec/decoder.hpp"

namespace sessionq::groups {
namespace {

std::optional<std::int64_t> group_sequence_of(const amqp::EncodedContent& content) {
    amqp::Decoder section{content.sections().properties};
    const auto list = section.read_descriptor() ? section.read_list() : std::nullopt;
    if (!list || list->count <= amqp::MessageProperties::group_sequence) {
        return std::nullopt; // most senders set none, and their lists end before it
    }
    const auto value = content.properties().value(amqp::MessageProperties::group_sequence);
    return value ? value->integer() : std::nullopt;
}

} // namespace

core::Result<Arrival> read_arrival(std::string_view encoded, const amqp::ClockReading& at,
                                   const Dialect& dialect) {
    auto received = amqp::decode_delivery(encoded, at);
    if (!received.ok()) {
        return received.failure();
    }
    Arrival made{.received = std::move(received).value()};
    const amqp::EncodedContent& content = *made.received.content;
    made.group = content.session_id().value_or("");
    made.group_sequence = group_sequence_of(content);
    const std::string_view properties = content.sections().application_properties;
    made.dealt_anew = !dialect.first_for_consumer.empty() && !properties.empty() &&
                      !amqp::find_entry(properties, dialect.first_for_consumer).empty();
    return made;
}

} // namespace sessionq::groups
