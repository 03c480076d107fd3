#include "processor/lease.hpp"

#include <algorithm>

namespace sessionq::processor {

void Lease::grant(TimePoint asked, std::optional<Duration> length) noexcept {
    renewing_ = false;
    if (!length) {
        expires_ = Deadline::never();
        renew_at_ = TimePoint::max();
        return;
    }
    length_ = *length;
    expires_ = Deadline::after(length_, asked);
    renew_at_ = expires_.is_never() ? TimePoint::max()
                                    : expires_.time() - std::min(length_ / 2, max_renew_ahead);
}

void Lease::grant_by_accept(TimePoint asked, TimePoint answered,
                            std::optional<Duration> length) noexcept {
    if (!length || answered - asked <= margin(*length)) {
        grant(asked, length);
        return;
    }
    grant(answered - margin(*length), length);
    renew_at_ = answered;
}

Lease::Next Lease::next(TimePoint now, bool renew_wanted) noexcept {
    if (expires_.is_never()) {
        return {};
    }
    if (expires_.passed(now)) {
        return {.step = Step::expire};
    }
    if (!warned_ && now >= last_start()) {
        warned_ = true;
        return {.step = Step::warn};
    }
    const bool may_renew = renew_wanted && !renewing_ && !warned_;
    if (may_renew && now >= renew_at_) {
        return {.step = Step::renew};
    }
    TimePoint at = warned_ ? expires_.time() : last_start();
    if (may_renew) {
        at = std::min(at, renew_at_);
    }
    return {.step = Step::wait, .at = at};
}

void Lease::renewal_failed(TimePoint now) noexcept {
    renewing_ = false;
    renew_at_ = now + std::clamp<Duration>(length_ / 20, std::chrono::milliseconds{50},
                                           std::chrono::seconds{5});
}

TimePoint Lease::last_start() const noexcept {
    return expires_.is_never() ? TimePoint::max() : expires_.time() - margin(length_);
}

Duration Lease::margin(Duration length) noexcept { return std::min(length / 10, max_margin); }

} // namespace sessionq::processor
