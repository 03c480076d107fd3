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
class Entity;
struct Session;
struct StoredMessage;
struct AvailableTag;
struct LiveTag;

/// Where a message is in its entity.
using Place = MessageState;

/// The one instant a message waits for: due, expired, or its lock lost, whichever its place says.
/// Few messages have one.
struct MessageTimer {
    MessageTimer(Entity& in, StoredMessage& of, timing::Timer::Callback expired) noexcept
        : entity{in}, message{of}, timer{this, expired} {}

    Entity& entity;
    StoredMessage& message;
    timing::Timer timer;
};

/// A message in an entity, in the entity's care.
struct StoredMessage : core::ListHook<AvailableTag>, core::ListHook<LiveTag> {
    MessageContentPtr content{};
    std::int64_t sequence{0};
    WallTime enqueued_time{};
    std::optional<std::chrono::milliseconds> time_to_live{}; ///< counts from enqueued_time
    TimePoint expires{TimePoint::max()}; ///< the same on the monotonic time line; max: never
    Session* session{nullptr};           ///< null: an entity without sessions
    Consumer* holder{nullptr};           ///< who has it now
    std::uint64_t token{0};              ///< names it within the holder
    std::unique_ptr<MessageTimer> timer{};
    std::unique_ptr<DeadLetterInfo> dead_letter{};
    std::uint32_t delivery_count{0};
    std::uint32_t bytes{0};
    Place place{Place::active};
    std::uint8_t hops{
        0}; ///< how often it was passed on from one entity to another since it last stayed in one
    bool delivered_before{false};
};

/// The message as consumers see it now.
[[nodiscard]] ReceivedMessage describe_delivery(const StoredMessage& message);

} // namespace sessionq::broker
