#pragma once

#include <cstdint>

#include <sessionq/time.hpp>

#include "core/intrusive_list.hpp"

namespace sessionq::timing {

class TimerWheel;

/// Something that happens once at an instant: an intrusive node, so that arming allocates nothing.
/// Destroying an armed timer cancels it.
///
/// Bound to the thread of the wheel it is armed in.
class Timer : public core::ListHook<> {
public:
    /// Must not throw. May arm, cancel and destroy timers, the one that expired among them.
    using Callback = void (*)(void* owner);

    Timer(void* owner, Callback expired) noexcept : owner_{owner}, expired_{expired} {}
    ~Timer();
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

    /// A timer that calls a member function: `Timer t{Timer::calling<&Link::on_timeout>(this)}`.
    template <auto Method, typename Owner>
    [[nodiscard]] static Timer calling(Owner* owner) noexcept {
        return Timer{owner, [](void* self) { (static_cast<Owner*>(self)->*Method)(); }};
    }

    /// Waiting in a wheel, or expired and not yet run.
    [[nodiscard]] bool is_armed() const noexcept { return is_linked(); }

    /// What whoever drives a wheel does with a timer that has expired and left the list; it may
    /// destroy the timer.
    void run() { expired_(owner_); }

    /// When it was last armed for.
    [[nodiscard]] TimePoint due() const noexcept { return due_; }

private:
    friend class TimerWheel;
    friend class TimerService;

    // What cancelling needs lies beside the hook, so that it is one cache line.
    TimerWheel* wheel_{nullptr}; // the wheel it waits in; none once it has expired
    TimePoint due_{};
    std::uint16_t position_{0}; // the bucket it waits in; the wheel's to read
    void* owner_;
    Callback expired_;
};

} // namespace sessionq::timing
