#include "broker/stored_message.hpp"

#include <limits>
#include <type_traits>

namespace sessionq::broker {
namespace {

constexpr std::size_t fixed_cost = 64; // headers, numbers, times

std::size_t size_of(const PropertyValue& value) noexcept {
    return std::visit(
        [](const auto& held) -> std::size_t {
            using Held = std::remove_cvref_t<decltype(held)>;
            if constexpr (std::is_same_v<Held, std::string> || std::is_same_v<Held, std::vector<std::byte>>) {
                return held.size();
            } else {
                return sizeof(Held);
            }
        },
        value);
}

} // namespace

std::uint32_t estimate_bytes(const Message& message) noexcept {
    std::size_t bytes = fixed_cost + message.body.size() + message.message_id.size() + message.subject.size() + message.correlation_id.size() +
                        message.reply_to.size() + message.reply_to_session_id.size() + message.to.size() + message.content_type.size();
    if (message.session_id) {
        bytes += message.session_id->size();
    }
    for (const auto& [name, value] : message.properties) {
        bytes += name.size() + size_of(value);
    }
    constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max();
    return static_cast<std::uint32_t>(bytes < most ? bytes : most);
}

ReceivedMessage describe_delivery(const StoredMessage& message) {
    DeliveryFacts facts{.sequence_number = message.sequence,
                        .delivery_count = message.delivery_count,
                        .enqueued_time = message.enqueued_time,
                        .redelivered = message.delivered_before};
    if (message.time_to_live) {
        facts.expires_at = message.enqueued_time + *message.time_to_live;
    }
    if (message.dead_letter) {
        facts.dead_letter = *message.dead_letter;
    }
    return ReceivedMessage{message.content, std::move(facts)};
}

} // namespace sessionq::broker
