#pragma once

#include <sessionq/time.hpp>

#include "core/intrusive_list.hpp"

namespace sessionq::timing {

/// Something that happens once at an instant: an intrusive node, so that arming allocates nothing. Destroying an armed timer cancels it.
///
/// Bound to the thread of the wheel it is armed in.
class Timer : public core::ListHook<> {
public:
    using Callback = void (*)(void* owner);

    Timer(void* owner, Callback expired) noexcept : owner_{owner}, expired_{expired} {}

    /// A timer that calls a member function: `Timer t{Timer::calling<&Link::on_timeout>(this)}`.
    template <auto Method, typename Owner>
    [[nodiscard]] static Timer calling(Owner* owner) noexcept {
        return Timer{owner, [](void* self) { (static_cast<Owner*>(self)->*Method)(); }};
    }

    /// Waiting in a wheel, or expired and not yet run.
    [[nodiscard]] bool is_armed() const noexcept { return is_linked(); }

    /// When it was last armed for.
    [[nodiscard]] TimePoint due() const noexcept { return due_; }

private:
    friend class TimerWheel;
    friend class TimerService;

    void* owner_;
    Callback expired_;
    TimePoint due_{};
};

} // namespace sessionq::timing
