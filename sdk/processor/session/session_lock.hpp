// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <utility>

#include <sessionq/session_context.hpp>

#include "ports/lock_keeper.hpp"

namespace sessionq::processor {

/// The steps that a session's lock wants now; several at once, in the order of the members.
struct LockSteps {
    bool report_expired{false}; ///< it was not renewed in time
    bool warn{false};           ///< once: it is about to end, and the session is left
    bool report_slow{false};    ///< it is not renewed, because of `max_lock_renewal`
    bool renew{false};          ///< ask the broker
};

/// Decides for the lock of one session, and while its handlers make progress only: renew, warn,
/// lose (R11-R13).
class SessionLock {
public:
    /// `longest`: a lock is not renewed once no handler has ended for so long. Zero: no bound.
    explicit SessionLock(Duration longest) noexcept : longest_{longest} {}

    /// By the accept asked for at `asked`.
    void locked(TimePoint asked, TimePoint now, ports::LockGrant grant) noexcept {
        keeper_.accepted(asked, now, grant);
    }
    /// The broker answered the renewal asked for at `asked`.
    void renewed(TimePoint asked, TimePoint now,
                 const core::Result<ports::LockGrant>& answer) noexcept {
        if (keeper_.answered(asked, now, answer).lost) {
            lose_soon(CloseReason::lock_lost);
        }
    }
    void became_uncertain(TimePoint now) noexcept { keeper_.became_uncertain(now); }

    /// The steps that are due. `busy_for`: since when messages wait for a handler to end.
    [[nodiscard]] LockSteps look(TimePoint now, Duration busy_for) noexcept {
        const bool is_slow = longest_ > Duration::zero() && busy_for >= longest_;
        const bool holds_back = is_slow && keeper_.phase() == ports::LockKeeper::Phase::held;
        const ports::LockActions actions = keeper_.look(now, !is_slow);
        LockSteps steps{.report_expired = actions.lost && !is_told_,
                        .warn = actions.warn,
                        .report_slow = actions.warn && holds_back,
                        .renew = actions.renew};
        if (actions.lost) {
            lose_soon(CloseReason::lock_lost);
        }
        is_told_ = is_told_ || steps.report_slow;
        return steps;
    }

    /// The lock is lost: the next `due` of the session deals with it.
    void lose_soon(CloseReason reason) noexcept { loss_ = loss_.value_or(reason); }
    [[nodiscard]] std::optional<CloseReason> take_loss() noexcept {
        return std::exchange(loss_, std::nullopt);
    }

    /// When something is due; TimePoint::max(): never. `kept`: it is to be renewed and watched.
    [[nodiscard]] TimePoint next(bool kept) const noexcept {
        if (loss_) {
            return TimePoint{};
        }
        return kept ? keeper_.next() : TimePoint::max();
    }

    [[nodiscard]] const ports::LockKeeper& keeper() const noexcept { return keeper_; }

private:
    const Duration longest_;
    ports::LockKeeper keeper_{};
    std::optional<CloseReason> loss_{};
    bool is_told_{false}; ///< the reason for the lock's end was reported when it was about to
};

} // namespace sessionq::processor
