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
#include "processor/session/session_count.hpp"
#include "processor/tuning.hpp"

namespace sessionq::processor {

/// Half of what a session fetches at first. With batches: all that its handlers may have, and 32
/// messages for the next. More would cost more cache misses than it brings as long as no handler
/// waits; then `FetchWindow` grows.
[[nodiscard]] inline std::uint32_t window_half(std::uint32_t calls,
                                               const BatchOptions& batch) noexcept {
    constexpr std::uint32_t most = 5'000;
    return batch.max_messages == 1
               ? calls
               : std::max(calls, std::min(most, (calls * batch.max_messages + 32) / 2));
}

/// What `update_limits` changes for a session.
struct SessionLimits {
    Duration idle_timeout{};
    std::uint32_t prefetch{0}; ///< zero: `FetchWindow` chooses
};

/// What the machines of a session go by.
struct SessionTerms {
    const ProcessorOptions& options;
    const Tuning& tuning;
    core::ByteBudget& budget;
    core::ReceiveSharePtr share{}; ///< of what the session's connection may bring
    core::Random& random;
    SessionCount& parked;
    SessionCount& settling;
    DrainTime& drain_time;
    SessionLimits limits{};
    std::uint32_t calls{1};
    BatchOptions batch{.max_messages = 1}; ///< what a handler gets
    /// Of an entity without sessions: its messages have no order to keep, and locks of their own.
    bool ordered{true};
    bool has_open{false};  ///< there is an on_session_open
    bool has_close{false}; ///< there is an on_session_close
};

} // namespace sessionq::processor
