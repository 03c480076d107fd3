// SPDX-License-Identifier: MIT
#pragma once

#include <sessionq/time.hpp>

namespace sessionq::processor {

/// Bounds a session's wait for the broker's answers to its settlements (R15): each answer gives the
/// others their time again. No timer moves with each answer.
class SettleWait {
public:
    explicit SettleWait(Duration timeout) noexcept : timeout_{timeout} {}

    /// A settlement is sent while none is unanswered.
    void begin(TimePoint now) noexcept { overdue_at_ = look_at_ = now + timeout_; }
    void answered(TimePoint now) noexcept { overdue_at_ = now + timeout_; }

    /// When to ask `is_overdue`.
    [[nodiscard]] TimePoint look_at() const noexcept { return look_at_; }
    /// None of several settlements was answered for too long.
    [[nodiscard]] bool is_overdue(TimePoint now) noexcept {
        if (now >= overdue_at_) {
            return true;
        }
        if (now >= look_at_) {
            look_at_ = overdue_at_;
        }
        return false;
    }
    /// Since when none was answered.
    [[nodiscard]] TimePoint since() const noexcept { return overdue_at_ - timeout_; }

private:
    const Duration timeout_;
    TimePoint overdue_at_{};
    TimePoint look_at_{};
};

} // namespace sessionq::processor
