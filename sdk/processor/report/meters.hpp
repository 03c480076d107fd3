// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <sessionq/deadline.hpp>

#include "core/histogram_recorder.hpp"
#include "processor/report/counters.hpp"

namespace sessionq::processor {

/// The instants of one message, as they are at hand.
struct CallTimes {
    TimePoint ready{};   ///< when it became the next of its session; unset: it was behind others
    TimePoint started{}; ///< its handler; unset: it did not
    TimePoint ended{};   ///< its handler
    TimePoint settled{}; ///< when its settlement was sent
};

/// All that one shard measures, written on its loop and read from any thread.
struct Meters {
    Counters counters{};
    core::HistogramRecorder ready_wait{};
    core::HistogramRecorder returned{}; ///< handlers
    core::HistogramRecorder failed{};   ///< handlers that threw
    core::HistogramRecorder settle{};
    core::HistogramRecorder settle_margin{};
    core::HistogramRecorder renew_margin{};
    core::HistogramRecorder accept_wait{};
    core::HistogramRecorder roll{};
    core::HistogramRecorder hold{};

    /// A message's handler ran, which may have had others too.
    void handled(CallTimes& times, Ending ending) noexcept {
        if (ran(ending) && times.ready != TimePoint{}) {
            ready_wait.add(times.started - std::exchange(times.ready, TimePoint{}));
        }
    }
    /// One handler ran, or did not start.
    void ran_once(const CallTimes& times, Ending ending) noexcept {
        if (ran(ending)) {
            (ending == Ending::failed ? failed : returned).add(times.ended - times.started);
        }
    }
    /// The broker answered a settlement that was sent at `sent`. `until`: the end of the lock.
    void answered(TimePoint sent, TimePoint now, bool success, Deadline until) noexcept {
        settle.add(now - sent);
        if (success) {
            margin(settle_margin, now, until);
        }
    }
    /// A session came `after` it was asked for.
    void accepted(Duration after) noexcept {
        counters.sessions_accepted.add();
        accept_wait.add(after);
    }
    /// The broker answered a renewal. `until`: the end of the lock before.
    void renewed(bool success, TimePoint now, Deadline until) noexcept {
        if (success) {
            margin(renew_margin, now, until);
        }
    }
    /// A session begins in a slot that left another one at `left`. Unset: it did not.
    void rolled(TimePoint left, TimePoint now) noexcept {
        if (left != TimePoint{}) {
            roll.add(now - left);
        }
    }
    /// The session is no longer ours; `sessions` is zero if it was not opened.
    void closed(CloseReason reason, std::uint64_t sessions, Duration held) noexcept {
        counters.sessions_closed[static_cast<std::size_t>(reason)].add(sessions);
        if (sessions != 0) {
            hold.add(held);
        }
    }

    void add_to(ProcessorCounters& totals) const noexcept {
        counters.add_to(totals);
        totals.longest_ready_wait = std::max(totals.longest_ready_wait, ready_wait.max());
    }

private:
    static void margin(core::HistogramRecorder& into, TimePoint now, Deadline until) noexcept {
        if (!until.is_never()) {
            into.add(until.time() - now);
        }
    }
};

} // namespace sessionq::processor
