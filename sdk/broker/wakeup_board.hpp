// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <functional>
#include <utility>

#include <sessionq/time.hpp>

namespace sessionq::broker {

/// Tells the driver of the broker's time when something becomes due earlier than planned.
/// Thread-safe, except for `set_listener`.
class WakeupBoard {
public:
    /// Call it before the first use.
    void set_listener(std::function<void()> listener) { listener_ = std::move(listener); }

    /// Something new is due at `due`. Calls the listener if that is earlier than planned.
    void offer(TimePoint due) {
        if (lower(due) && listener_) {
            listener_();
        }
    }

    /// The driver is about to compute its next wake-up. From now on every offer calls the listener.
    void forget() noexcept { planned_.store(never, std::memory_order_seq_cst); }

    /// The driver has computed its next wake-up and will be there at `due` at the latest.
    void plan(TimePoint due) noexcept { lower(due); }

private:
    using Ticks = Duration::rep;
    static constexpr Ticks never = TimePoint::max().time_since_epoch().count();

    bool lower(TimePoint due) noexcept {
        const Ticks ticks = due.time_since_epoch().count();
        Ticks planned = planned_.load(std::memory_order_seq_cst);
        while (ticks < planned) {
            if (planned_.compare_exchange_weak(planned, ticks, std::memory_order_seq_cst)) {
                return true;
            }
        }
        return false;
    }

    std::function<void()> listener_;
    std::atomic<Ticks> planned_{never};
};

} // namespace sessionq::broker
