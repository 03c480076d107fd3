// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <sessionq/time.hpp>

#include "core/intrusive_list.hpp"

namespace sessionq::timing {

class TimerWheel;

/// Runs a callback once at an instant. It is an intrusive node, so arming allocates nothing.
/// Destroying an armed timer cancels it.
///
/// Bound to the thread of the wheel it is armed in.
class Timer : public core::ListHook<> {
public:
    /// Must not throw. May arm, cancel and destroy timers, including the one that expired.
    using Callback = void (*)(void* owner);

    Timer(void* owner, Callback expired) noexcept : owner_{owner}, expired_{expired} {}
    ~Timer();
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

    /// Makes a timer that calls a member function: `Timer
    /// t{Timer::calling<&Link::on_timeout>(this)}`.
    template <auto Method, typename Owner>
    [[nodiscard]] static Timer calling(Owner* owner) noexcept {
        return Timer{owner, [](void* self) { (static_cast<Owner*>(self)->*Method)(); }};
    }

    /// Whether the timer waits in a wheel, or has expired and not run yet.
    [[nodiscard]] bool is_armed() const noexcept { return is_linked(); }

    /// Runs the callback, which may destroy the timer. For the driver of a wheel, once the timer
    /// has expired and left the list.
    void run() { expired_(owner_); }

    /// The instant it was last armed for.
    [[nodiscard]] TimePoint due() const noexcept { return due_; }

private:
    friend class TimerWheel;
    friend class TimerService;

    // Cancelling reads these, so they share a cache line with the hook.
    TimerWheel* wheel_{nullptr}; // the wheel it waits in; null once it has expired
    TimePoint due_{};
    std::uint16_t position_{0}; // its bucket; only the wheel reads it
    void* owner_;
    Callback expired_;
};

} // namespace sessionq::timing
