#pragma once

#include <atomic>
#include <functional>
#include <utility>

#include <sessionq/time.hpp>

namespace sessionq::broker {

/// Tells whoever drives the broker's time when it has to look earlier than it plans to.
/// Thread-safe, but for `set_listener`.
class WakeupBoard {
public:
    /// Before the first use.
    void set_listener(std::function<void()> listener) { listener_ = std::move(listener); }

    /// Something is due at `due` that was not before.
    void offer(TimePoint due) {
        if (lower(due) && listener_) {
            listener_();
        }
    }

    /// The driver is about to find out anew when to look: any offer from here on is news.
    void forget() noexcept { planned_.store(never, std::memory_order_seq_cst); }

    /// The driver has found out, and will look at `due` at the latest.
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
