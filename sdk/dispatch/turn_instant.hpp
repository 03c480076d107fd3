// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include <sessionq/time.hpp>

#include "core/clock.hpp"

namespace sessionq::dispatch {

/// The instants between which a handler runs, with one read of the clock for each: on a worker of
/// a pool a call starts when the one before it in the same turn ended. Elsewhere the clock is read
/// twice. Each thread has its own.
class TurnInstant {
public:
    /// A worker of a pool begins with the work that is ready.
    static void begin() noexcept { here() = {.is_worker = true}; }
    /// A thread that is no worker any more.
    static void leave() noexcept { here() = {}; }
    /// It runs the next call.
    static void next() noexcept { here().ended_before = std::exchange(here().ended, TimePoint{}); }

    /// A call of this thread starts.
    [[nodiscard]] static TimePoint start(const core::Clock& clock) noexcept {
        const TimePoint before = here().ended_before;
        return before != TimePoint{} ? before : clock.now();
    }
    /// Its handler has ended.
    [[nodiscard]] static TimePoint end(const core::Clock& clock) noexcept {
        const TimePoint now = clock.now();
        if (here().is_worker) {
            here().ended = now;
        }
        return now;
    }

private:
    struct Thread {
        bool is_worker{false};
        TimePoint ended{};        ///< of the call that runs; unset: it has not
        TimePoint ended_before{}; ///< of the one before it in this turn; unset: there was none
    };

    static Thread& here() noexcept {
        constinit thread_local Thread thread{};
        return thread;
    }
};

} // namespace sessionq::dispatch
