// SPDX-License-Identifier: MIT
#pragma once

#include <sessionq/time.hpp>

namespace sessionq::processor {

/// Decides when a session has waited too long for the broker's answers to its settlements (R15).
/// `SessionMachine` asks it at each settlement, each answer and when its timer is due. Each answer
/// gives the other settlements the full time again. That does not move the timer: `is_overdue`
/// finds the new instant when the timer is due.
class SettleWait {
public:
    explicit SettleWait(Duration timeout) noexcept : timeout_{timeout} {}

    /// A settlement is sent, and no other one is unanswered.
    void begin(TimePoint now) noexcept { overdue_at_ = look_at_ = now + timeout_; }
    void answered(TimePoint now) noexcept { overdue_at_ = now + timeout_; }

    /// When to ask `is_overdue`.
    [[nodiscard]] TimePoint look_at() const noexcept { return look_at_; }
    /// Whether the broker has answered no settlement for too long.
    [[nodiscard]] bool is_overdue(TimePoint now) noexcept {
        if (now >= overdue_at_) {
            return true;
        }
        if (now >= look_at_) {
            look_at_ = overdue_at_;
        }
        return false;
    }
    /// The instant since which no settlement was answered.
    [[nodiscard]] TimePoint since() const noexcept { return overdue_at_ - timeout_; }

private:
    const Duration timeout_;
    TimePoint overdue_at_{};
    TimePoint look_at_{};
};

} // namespace sessionq::processor
