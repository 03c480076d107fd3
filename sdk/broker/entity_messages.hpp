// SPDX-License-Identifier: MIT
#pragma once

#include "broker/entity_state.hpp"

namespace sessionq::broker {

/// How each message moves through an entity: it is scheduled, available, held by a consumer,
/// deferred, forwarded, dead-lettered and removed. Notifies the holder of a session of new
/// messages.
class EntityMessages {
public:
    /// `dead_letters` is null for a dead-letter sub-queue.
    EntityMessages(EntityState& entity, EntityMessages* dead_letters) noexcept
        : entity_{entity}, dead_letters_{dead_letters} {}

    /// Adds a message that was accepted, and returns its sequence number.
    std::int64_t enqueue(Arrival arrival);
    /// Dead-letters a message that was not accepted.
    void reject(MessageContentPtr content, DeadLetterInfo why) {
        dead_letters_->take_dead_letter(std::move(content), 0,
                                        std::make_shared<DeadLetterInfo>(std::move(why)));
    }

    /// The end of a delivery: the message returns to its position, or is dead-lettered if it was
    /// delivered too often.
    void put_back(StoredMessage& message, bool counted);
    void expire(StoredMessage& message);
    void dead_letter(StoredMessage& message, std::shared_ptr<const DeadLetterInfo> why);
    void remove(StoredMessage& message);

    /// Sets the instant that the message waits for. If a consumer holds it, its lock ends then.
    void arm(StoredMessage& message, TimePoint due);

    /// Where messages are forwarded. Empty: nowhere, or it is a topic.
    [[nodiscard]] const std::string& destination() const noexcept {
        return entity_.options.forward_to;
    }
    /// A message's forwarding has ended: it has arrived, or is dead-lettered here.
    void end_transit(const Transit& transit);

    /// Restores stored messages, in the order of their sequence numbers.
    void restore(std::vector<DurableMessage> stored);

private:
    void take_dead_letter(MessageContentPtr content, std::uint32_t delivery_count,
                          std::shared_ptr<const DeadLetterInfo> why);
    void activate(StoredMessage& message, std::optional<std::chrono::milliseconds> longest = {});
    void make_available(StoredMessage& message);
    void add_to_available(StoredMessage& message);
    void forward(StoredMessage& message);
    void set_expiry(StoredMessage& message);
    void on_timer(StoredMessage& message);

    EntityState& entity_;
    EntityMessages* const dead_letters_;
};

} // namespace sessionq::broker
