// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <utility>

#include <sessionq/session_context.hpp>

#include "ports/lock_keeper.hpp"

namespace sessionq::detail::processor {

/// The next steps for a session's lock. Several may be set. `SessionMachine` takes them in the
/// order of the members.
struct LockSteps {
    bool report_expired{false}; ///< the lock was not renewed in time
    bool warn{false};           ///< once: the lock is about to end, and the session is left
    bool report_slow{false};    ///< the lock is not renewed, because of `max_lock_renewal`
    bool renew{false};          ///< ask the broker to renew the lock
};

/// Decides when the lock of one session is renewed, when to warn of its end, and when it is lost
/// (R11-R13). The lock is not renewed while handlers make no progress for longer than a limit. An
/// idle session's lock is renewed. `SessionMachine` reports each grant and answer, and calls `look`
/// when the session's timer is due. `ports::LockKeeper` computes the instants.
class SessionLock {
public:
    /// `longest`: the lock is not renewed if no handler has ended for so long. Zero: no limit.
    explicit SessionLock(Duration longest) noexcept : longest_{longest} {}

    /// The accept that was sent at `asked` granted the lock.
    void locked(TimePoint asked, TimePoint now, ports::LockGrant grant) noexcept {
        keeper_.accepted(asked, now, grant);
    }
    /// The broker answered the renewal that was sent at `asked`.
    void renewed(TimePoint asked, TimePoint now,
                 const core::Result<ports::LockGrant>& answer) noexcept {
        if (keeper_.answered(asked, now, answer).lost) {
            lose_soon(CloseReason::lock_lost);
        }
    }
    void became_uncertain(TimePoint now) noexcept { keeper_.became_uncertain(now); }

    /// Returns the steps that are due. `busy_for`: how long no handler has ended although the
    /// session has messages.
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

    /// Notes that the lock is lost. The next `due` of the session deals with it.
    void lose_soon(CloseReason reason) noexcept { loss_ = loss_.value_or(reason); }
    [[nodiscard]] std::optional<CloseReason> take_loss() noexcept {
        return std::exchange(loss_, std::nullopt);
    }

    /// When a step is due; TimePoint::max(): never. `kept`: the lock is to be renewed and watched.
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
    bool is_told_{false}; ///< `report_slow` has told the reason for the end of the lock
};

} // namespace sessionq::detail::processor
