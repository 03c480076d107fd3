// SPDX-License-Identifier: MIT
#include "ports/lock_keeper.hpp"

#include <algorithm>

namespace sessionq::ports {

void LockKeeper::granted(TimePoint asked, LockGrant grant) noexcept {
    if (phase_ == Phase::lost) {
        return;
    }
    expires_ = grant.length ? Deadline::after(*grant.length, asked) : Deadline::never();
    length_ = grant.length.value_or(Duration::zero());
    renew_at_ = expires_.is_never() ? TimePoint::max()
                                    : expires_.time() - std::min(length_ / 2, max_renew_ahead);
    if (phase_ != Phase::warned) { // a warning is not taken back
        phase_ = expires_.is_never() ? Phase::endless : Phase::held;
    }
    look_at_ = phase_ == Phase::warned ? expires_.time() : renew_at_;
}

void LockKeeper::accepted(TimePoint asked, TimePoint answered, LockGrant grant) noexcept {
    if (!grant.length || answered - asked <= margin(*grant.length)) {
        granted(asked, grant);
        return;
    }
    granted(answered - margin(*grant.length), grant);
    became_uncertain(answered);
}

LockActions LockKeeper::answered(TimePoint asked, TimePoint now,
                                 const core::Result<LockGrant>& answer) noexcept {
    if (answer.ok()) {
        granted(asked, answer.value());
        return {};
    }
    if (phase_ == Phase::lost) {
        return {};
    }
    if (answer.failure().code == Errc::lock_lost) {
        phase_ = Phase::lost;
        look_at_ = TimePoint::max();
        return {.lost = true};
    }
    if (phase_ == Phase::renewing) {
        phase_ = Phase::held;
        renew_at_ = now + std::clamp<Duration>(length_ / 20, std::chrono::milliseconds{50},
                                               std::chrono::seconds{5});
        look_at_ = std::min(renew_at_, last_start());
    }
    return {};
}

void LockKeeper::became_uncertain(TimePoint now) noexcept {
    if (phase_ == Phase::held) {
        renew_at_ = std::min(renew_at_, now);
        look_at_ = std::min(look_at_, renew_at_);
    }
}

LockActions LockKeeper::look(TimePoint now, bool may_renew) noexcept {
    if (phase_ == Phase::endless || phase_ == Phase::lost) {
        return {};
    }
    LockActions actions;
    if (expires_.passed(now)) {
        phase_ = Phase::lost;
        look_at_ = TimePoint::max();
        actions.lost = true;
        return actions;
    }
    if (phase_ != Phase::warned && now >= last_start()) {
        phase_ = Phase::warned;
        actions.warn = true;
    }
    if (phase_ == Phase::held && may_renew && now >= renew_at_) {
        phase_ = Phase::renewing;
        actions.renew = true;
    }
    look_at_ = phase_ == Phase::warned              ? expires_.time()
               : phase_ == Phase::held && may_renew ? std::min(renew_at_, last_start())
                                                    : last_start();
    return actions;
}

TimePoint LockKeeper::last_start() const noexcept {
    return expires_.is_never() ? TimePoint::max() : expires_.time() - margin(length_);
}

Duration LockKeeper::margin(Duration length) noexcept { return std::min(length / 10, max_margin); }

} // namespace sessionq::ports
