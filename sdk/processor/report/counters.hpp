// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <sessionq/processor_report.hpp>
#include <sessionq/session_context.hpp>

#include "core/histogram_recorder.hpp"
#include "processor/message/message_machine.hpp"

namespace sessionq::detail::processor {

inline constexpr std::size_t close_reasons =
    static_cast<std::size_t>(CloseReason::unresponsive) + 1;

/// The counters of one shard. Its loop writes them, any thread reads them. The reads are relaxed:
/// each total is right by itself, but two totals may be of different instants.
struct Counters {
    using Count = core::OwnCount;

    Count messages_received{};
    Count messages_redelivered{};
    Count messages_handled{};
    Count messages_failed{};
    Count messages_retried{};
    Count messages_expired{};
    Count messages_completed{};
    Count messages_abandoned{};
    Count messages_dead_lettered{};
    Count messages_deferred{};
    Count messages_released{};
    Count messages_lost{};
    Count settlement_failures{};
    Count sessions_accepted{};
    Count sessions_opened{};
    Count sessions_parked{};
    std::array<Count, close_reasons> sessions_closed{}; ///< by `CloseReason`
    Count locks_lost{};
    Count lock_renewals{};
    Count empty_accepts{};
    Count accept_failures{};
    Count late_accepts{};
    Count surplus_accepts{};

    static void add(Count& count, std::uint64_t by = 1) noexcept { count.add(by); }

    /// A message has come. `deliveries`: deliveries that were counted before this one.
    void received(std::uint32_t deliveries) noexcept {
        messages_received.add();
        messages_redelivered.add(deliveries != 0 ? 1 : 0);
    }
    /// A handler has ended, or will not run.
    void ended(Ending ending, std::uint32_t attempt) noexcept;
    /// The broker has answered a settlement.
    void settled(ports::Outcome outcome, bool success) noexcept;

    /// Adds the counters to `totals`. `Meters` adds `longest_ready_wait`.
    void add_to(ProcessorCounters& totals) const noexcept;
};

} // namespace sessionq::detail::processor
