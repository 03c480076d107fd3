// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include <sessionq/message_content.hpp>

#include "broker/queue_options.hpp"

namespace sessionq::broker {

/// The place of a message in the order of its queue: the lowest rank is delivered first, and
/// messages of one rank by arrival. A total order over all messages.
class MessageRank {
public:
    /// The rank that the options give to a message. A message that has no value to be ordered by,
    /// or cannot be decoded, comes last.
    [[nodiscard]] static MessageRank of(const MessageContent& message, const QueueOptions& options);

    friend bool operator<(const MessageRank& a, const MessageRank& b) noexcept;

private:
    enum class Kind : std::uint8_t { number, text, time, none };

    [[nodiscard]] static MessageRank of(const PropertyValue& value);
    template <typename Number>
    [[nodiscard]] static MessageRank of_number(Number value) noexcept;

    Kind kind_{Kind::none};
    // A number, exactly: the nearest double, and how much is left of a large integer. Integers and
    // doubles compare by size.
    double number_{0};
    double remainder_{0};
    std::string text_{};
    WallTime time_{};
};

} // namespace sessionq::broker
