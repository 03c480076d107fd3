// SPDX-License-Identifier: MIT
#pragma once

#include <sessionq/time.hpp>

namespace sessionq::detail::processor {

/// Decides when a session has waited too long for the broker's answers to its settlements (R15).
/// `SessionMachine` asks it at each settlement, each answer and when its timer is due. After an
/// answer, the other settlements have the full time again. An answer does not move the timer. When
/// the timer is due, `is_overdue` sets the timer's next instant.
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

} // namespace sessionq::detail::processor
