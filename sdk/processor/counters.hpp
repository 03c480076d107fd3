// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

#include <sessionq/processor_report.hpp>

#include "processor/message_machine.hpp"

namespace sessionq::processor {

/// The totals of a processor, written by loops and workers. Relaxed: each is right by itself.
struct Counters {
    using Count = std::atomic<std::uint64_t>;

    Count messages_handled{0};
    Count messages_failed{0};
    Count messages_completed{0};
    Count messages_released{0};
    Count messages_expired{0};
    Count sessions_opened{0};
    Count sessions_closed{0};
    Count sessions_parked{0};
    Count locks_lost{0};
    Count empty_accepts{0};
    Count accept_failures{0};
    Count late_accepts{0};
    Count surplus_accepts{0};
    Count settlement_failures{0};
    Count lock_renewals{0};
    alignas(64) std::atomic<Duration::rep> longest_ready_wait{0}; // workers look at it

    static void add(Count& count, std::uint64_t by = 1) noexcept {
        count.fetch_add(by, std::memory_order_relaxed);
    }

    /// A handler has ended, or will not run.
    void ended(Ending ending) noexcept;
    /// The broker has answered a settlement.
    void settled(ports::Outcome outcome, bool success) noexcept;

    /// A handler starts of a message that is ready since then. Zero: it was behind others.
    void waited(TimePoint since, TimePoint now) noexcept {
        if (since == TimePoint{}) {
            return;
        }
        const Duration length = now - since;
        Duration::rep longest = longest_ready_wait.load(std::memory_order_relaxed);
        while (length.count() > longest &&
               !longest_ready_wait.compare_exchange_weak(longest, length.count(),
                                                         std::memory_order_relaxed)) {
        }
    }

    [[nodiscard]] ProcessorCounters read() const noexcept;
};

} // namespace sessionq::processor
