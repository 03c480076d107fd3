// SPDX-License-Identifier: MIT
#include "broker/stored_message.hpp"

namespace sessionq::broker {
ReceivedMessage describe_delivery(const StoredMessage& message) {
    DeliveryFacts facts{.sequence_number = message.sequence,
                        .delivery_count = message.delivery_count,
                        .enqueued_time = message.enqueued_time,
                        .dead_letter = message.dead_letter,
                        .state = message.place,
                        .redelivered = message.delivered_before,
                        .deadline = message.content->deadline(),
                        .enqueued_sequence_number = message.first_sequence};
    if (const auto time_to_live = message.time_to_live.get()) {
        facts.expires_at = message.enqueued_time + *time_to_live;
    }
    return ReceivedMessage{message.content, std::move(facts)};
}

} // namespace sessionq::broker
