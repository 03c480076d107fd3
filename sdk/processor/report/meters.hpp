// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <sessionq/deadline.hpp>

#include "core/histogram_recorder.hpp"
#include "processor/report/counters.hpp"

namespace sessionq::detail::processor {

/// The instants in the life of one message, each set when it is known.
struct CallTimes {
    TimePoint ready{};   ///< when it became the next of its session; unset: it was behind others
    TimePoint started{}; ///< when its handler started; unset: it did not
    TimePoint ended{};   ///< when its handler ended
    TimePoint settled{}; ///< when its settlement was sent
};

/// The measurements of one shard. Its loop writes them, any thread reads them.
struct Meters {
    Counters counters{};
    core::HistogramRecorder ready_wait{};
    core::HistogramRecorder returned{}; ///< handlers that returned
    core::HistogramRecorder failed{};   ///< handlers that threw
    core::HistogramRecorder settle{};
    core::HistogramRecorder settle_margin{};
    core::HistogramRecorder renew_margin{};
    core::HistogramRecorder accept_wait{};
    core::HistogramRecorder roll{};
    core::HistogramRecorder hold{};

    /// The handler of a message has ended. In a batch it had other messages too.
    void handled(CallTimes& times, Ending ending) noexcept {
        if (ran(ending) && times.ready != TimePoint{}) {
            ready_wait.add(times.started - std::exchange(times.ready, TimePoint{}));
        }
    }
    /// A handler ran, or did not start. Called once for a batch.
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
    /// A session came. `after`: the time since its accept was sent.
    void accepted(Duration after) noexcept {
        counters.sessions_accepted.add();
        accept_wait.add(after);
    }
    /// The broker answered a renewal. `until`: the end of the lock before the renewal.
    void renewed(bool success, TimePoint now, Deadline until) noexcept {
        if (success) {
            margin(renew_margin, now, until);
        }
    }
    /// A session begins in a slot. `left`: when the slot left its last session; unset: it had none.
    void rolled(TimePoint left, TimePoint now) noexcept {
        if (left != TimePoint{}) {
            roll.add(now - left);
        }
    }
    /// The session is not held any more. `sessions`: zero if it was not opened, otherwise 1.
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

} // namespace sessionq::detail::processor
