// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>

#include "broker/available_messages.hpp"
#include "broker/message_rank.hpp"

namespace sessionq::broker {

/// The available messages of an entity without sessions, in the order that its options say (DG7).
/// In the order of arrival adding and taking cost O(1); otherwise O(log n) in the number of ranks.
class OrderedMessages {
public:
    /// The options outlive this.
    explicit OrderedMessages(const QueueOptions& options) noexcept : options_{options} {}
    OrderedMessages(const OrderedMessages&) = delete;
    OrderedMessages& operator=(const OrderedMessages&) = delete;

    [[nodiscard]] std::size_t size() const noexcept { return by_arrival_.size() + ranked_; }

    void push(StoredMessage& message);
    /// No effect if the message is not available. Its content is the same as when it was added.
    void remove(StoredMessage& message);
    /// Null if none is available.
    [[nodiscard]] StoredMessage* front() const noexcept {
        return lines_.empty() ? by_arrival_.front() : lines_.begin()->second.front();
    }
    StoredMessage* pop_front() noexcept;
    /// All of them, if the options ask for the order of arrival.
    [[nodiscard]] const AvailableMessages& by_arrival() const noexcept { return by_arrival_; }

private:
    using Lines = std::map<MessageRank, AvailableMessages>;

    [[nodiscard]] bool has_ranks() const noexcept {
        return options_.order != MessageOrder::arrival;
    }
    void erase_if_empty(Lines::iterator line) noexcept;

    const QueueOptions& options_;
    AvailableMessages by_arrival_{};
    Lines lines_{};         // by rank; contains no empty line
    std::size_t ranked_{0}; // messages in `lines_`
};

} // namespace sessionq::broker
