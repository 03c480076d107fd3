// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <sessionq/received_message.hpp>

#include "core/intrusive_list.hpp"
#include "timing/timer.hpp"

namespace sessionq::broker {

struct Consumer;
class EntityMessages;
struct Session;
struct StoredMessage;
struct AvailableTag;
struct LiveTag;

/// The state of a message in its entity.
using Place = MessageState;

/// The one instant that a message waits for. Its place says which: when it is due, when it expires
/// or when its lock ends. Few messages have a timer.
struct MessageTimer {
    MessageTimer(EntityMessages& in, StoredMessage& of, timing::Timer::Callback expired) noexcept
        : messages{in}, message{of}, timer{this, expired} {}

    EntityMessages& messages;
    StoredMessage& message;
    timing::Timer timer;
};

/// An optional time to live in eight bytes, because every stored message has one.
class CompactTimeToLive {
public:
    CompactTimeToLive& operator=(std::optional<std::chrono::milliseconds> value) noexcept {
        value_ = value.value_or(unlimited);
        return *this;
    }
    [[nodiscard]] std::optional<std::chrono::milliseconds> get() const noexcept {
        return value_ == unlimited ? std::nullopt : std::optional{value_};
    }

private:
    static constexpr auto unlimited = std::chrono::milliseconds::max();
    std::chrono::milliseconds value_{unlimited};
};

/// A message of an entity, owned by the entity's `MessageStore`.
struct StoredMessage : core::ListHook<AvailableTag>, core::ListHook<LiveTag> {
    MessageContentPtr content{};
    std::int64_t sequence{0};
    WallTime enqueued_time{};
    CompactTimeToLive time_to_live{}; ///< counts from enqueued_time
    /// the end of time_to_live on the monotonic time line; max: never
    TimePoint expires{TimePoint::max()};
    Session* session{nullptr}; ///< null in an entity without sessions
    Consumer* holder{nullptr}; ///< the consumer that has received it and not settled it
    std::uint64_t token{0};    ///< names it within the holder
    std::unique_ptr<MessageTimer> timer{};
    std::shared_ptr<const DeadLetterInfo> dead_letter{};
    /// In the first entity, if it was forwarded from there; else zero.
    std::int64_t first_sequence{0};
    std::uint32_t delivery_count{0};
    std::uint32_t bytes{0};
    Place place{Place::active};
    /// How often it was forwarded since it last stayed in an entity.
    std::uint8_t hops{0};
    bool delivered_before{false};
    bool holder_lost{false}; ///< as `Delivered::holder_lost`
};

/// The bytes that the reasons of a dead letter take. Null: zero.
[[nodiscard]] inline std::size_t bytes_of(const DeadLetterInfo* why) noexcept {
    return why != nullptr ? why->reason.size() + why->description.size() : 0;
}

/// The message as consumers see it now.
[[nodiscard]] ReceivedMessage describe_delivery(const StoredMessage& message);

} // namespace sessionq::broker
