// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

#include <sessionq/batch_options.hpp>
#include <sessionq/processor_options.hpp>

#include "core/byte_budget.hpp"
#include "core/random.hpp"
#include "core/receive_room.hpp"
#include "processor/credit/drain_time.hpp"
#include "processor/session/session_actions.hpp"
#include "processor/session/session_count.hpp"
#include "processor/tuning.hpp"

namespace sessionq::detail::processor {

/// Returns half of a session's first window. Without batches, it is the number of handlers that may
/// run at once. With batches, the whole window holds a batch for each handler, and 32 messages of
/// the next batch. A larger window would cost more time in cache misses than it saves. If handlers
/// do wait, `FetchWindow` makes the window grow.
[[nodiscard]] inline std::uint32_t window_half(std::uint32_t calls,
                                               const BatchOptions& batch) noexcept {
    constexpr std::uint32_t most = 5'000;
    return batch.max_messages == 1
               ? calls
               : std::max(calls, std::min(most, (calls * batch.max_messages + 32) / 2));
}

/// The limits of a session that `update_limits` changes.
struct SessionLimits {
    Duration idle_timeout{};
    std::uint32_t prefetch{0}; ///< zero: `FetchWindow` chooses
};

/// The limits that a session begins with.
struct SessionStart {
    SessionLimits limits{};
    std::uint32_t calls{1};        ///< how many handlers may run at once
    core::ReceiveSharePtr share{}; ///< the share of the bytes that its connection may bring
};

/// The options and shared counters that the machines of all sessions of a shard use. The
/// shard owns it, and it outlives the sessions.
struct SessionSettings {
    const SessionProcessorOptions& options;
    const Tuning& tuning;
    core::ByteBudget& budget;
    core::Random& random;
    SessionCount& parked;
    SessionCount& settling;
    DrainTime& drain_time;
    SessionActions::Spare& action_memory;
    BatchOptions batch{.max_messages = 1}; ///< how many messages a handler gets
    /// False for an entity without sessions. Its messages have no order to keep, and each message
    /// has its own lock.
    bool ordered{true};
    bool has_open{false};  ///< there is an on_session_open
    bool has_close{false}; ///< there is an on_session_close
};

} // namespace sessionq::detail::processor
