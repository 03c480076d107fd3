// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>

#include <sessionq/time.hpp>

namespace sessionq::inline v1 {

/// How large the batches of `SessionProcessor::on_messages` are. An aggregate for designated
/// initialisers. `on_messages` checks it: a value out of range throws
/// `Error{Errc::invalid_option}` naming the member. Nothing is clamped.
///
/// Example:
///
///     processor.on_messages(
///         [](std::span<MessageContext> batch) { std::cout << batch.size() << '\n'; },
///         {.max_messages = 500, .max_wait = std::chrono::milliseconds{50}});
struct BatchOptions {
    /// Most messages in one batch. A batch has no more than the processor fetches of a session at
    /// once (`SessionProcessorOptions::prefetch`) and than a turn has left
    /// (`SessionProcessorOptions::max_messages_per_turn`). With a prefetch of zero the processor
    /// fetches at least 32 messages more than a batch, up to 10,000. Range: 1 to 10,000. Default
    /// 100.
    std::uint32_t max_messages{100};

    /// How long the first message that waits may wait for more, from its arrival, if no
    /// `max_messages` wait. The wait is over at once if no more can come: the broker has answered a
    /// drain, or the messages that wait are all that may be fetched. It is no longer than half of
    /// `SessionProcessorOptions::max_lock_renewal`, and ends in the middle of
    /// `SessionProcessorOptions::max_hold`. Messages that return from a batch that threw do not
    /// wait again. A message that waits is in flight, and no thread waits with it. Range: 0 to 1 h.
    /// Zero: a batch has the messages that have come by the time a worker is free. Default 0.
    Duration max_wait{};
};

} // namespace sessionq::inline v1
