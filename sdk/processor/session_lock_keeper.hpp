// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <utility>

#include <sessionq/session_context.hpp>

#include "ports/lock_keeper.hpp"
#include "processor/session_state.hpp"

namespace sessionq::processor {

/// Decides for the lock of one session, and while its handlers make progress only: renew, warn,
/// lose (R11-R13).
class SessionLockKeeper {
public:
    explicit SessionLockKeeper(SessionState& session) noexcept : session_{session} {}

    /// By the accept asked for at `asked`.
    void locked(TimePoint asked, ports::LockGrant grant) {
        keeper_.accepted(asked, session_.now, grant);
        session_.add(Kind::show_lock);
    }

    /// The broker answered the renewal asked for at `asked`.
    void renewed(TimePoint asked, const core::Result<ports::LockGrant>& answer) {
        if (!session_.keeps_lock()) {
            return;
        }
        if (keeper_.answered(asked, session_.now, answer).lost) {
            lose_soon(CloseReason::lock_lost);
        }
        session_.add(Kind::show_lock, answer.ok() ? 1U : 0U);
    }

    void became_uncertain() noexcept { keeper_.became_uncertain(session_.now); }

    /// True, once: the lock is about to end, and the session is to be left.
    [[nodiscard]] bool look(std::uint32_t in_flight) {
        if (!session_.keeps_lock()) {
            return false;
        }
        const Duration longest = session_.terms.options.max_lock_renewal;
        const bool is_slow = longest > Duration::zero() && in_flight != 0 &&
                             session_.now - session_.progress_at >= longest;
        const bool holds_back = is_slow && keeper_.phase() == ports::LockKeeper::Phase::held;
        const ports::LockActions actions = keeper_.look(session_.now, !is_slow);
        if (actions.lost) {
            if (!is_told_) {
                session_.add(Kind::report_expired);
            }
            lose_soon(CloseReason::lock_lost);
        }
        if (actions.warn) {
            session_.add(Kind::warn);
            if (holds_back) {
                is_told_ = true;
                session_.add(Kind::report_slow);
            }
        }
        if (actions.renew) {
            session_.add(Kind::renew_lock);
        }
        return actions.warn;
    }

    /// The lock is lost: the next `due` deals with it.
    void lose_soon(CloseReason reason) noexcept { loss_ = loss_.value_or(reason); }
    [[nodiscard]] std::optional<CloseReason> take_loss() noexcept {
        return std::exchange(loss_, std::nullopt);
    }

    /// When something is due; TimePoint::max(): never.
    [[nodiscard]] TimePoint next() const noexcept {
        if (loss_) {
            return TimePoint{};
        }
        return session_.keeps_lock() ? keeper_.next() : TimePoint::max();
    }

    [[nodiscard]] const ports::LockKeeper& keeper() const noexcept { return keeper_; }

private:
    using Kind = SessionAction::Kind;

    SessionState& session_;
    ports::LockKeeper keeper_{};
    std::optional<CloseReason> loss_{};
    bool is_told_{false}; ///< why the lock ends was reported when it was about to
};

} // namespace sessionq::processor
