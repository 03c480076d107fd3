// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace sessionq::groups {

/// Decides when a held group may give messages to its owner, and when the group is left after a
/// close. Each `GroupLink` has a machine. No I/O, no clock.
class GroupLinkMachine {
public:
    enum class Phase : std::uint8_t {
        held,
        closing, ///< closed by the owner; settlements are unanswered
        over,    ///< left or lost
    };

    [[nodiscard]] Phase phase() const noexcept { return phase_; }
    [[nodiscard]] std::uint32_t credit() const noexcept { return credit_; }
    [[nodiscard]] bool is_held() const noexcept { return phase_ == Phase::held; }
    [[nodiscard]] bool may_give() const noexcept { return is_held() && credit_ != 0; }
    [[nodiscard]] bool is_draining() const noexcept { return draining_; }

    void add_credit(std::uint32_t count) noexcept { credit_ += is_held() ? count : 0; }
    void gave() noexcept { credit_ -= std::min(credit_, 1U); }
    /// False: there is nothing to drain.
    [[nodiscard]] bool drain() noexcept { return draining_ = is_held(); }
    /// True: tell the owner that the drain is answered.
    [[nodiscard]] bool drained() noexcept {
        if (!is_held() || !std::exchange(draining_, false)) {
            return false;
        }
        credit_ = 0;
        return true;
    }

    /// False: there is nothing to give back.
    [[nodiscard]] bool close() noexcept {
        const bool was_held = is_held();
        phase_ = was_held ? Phase::closing : phase_;
        return was_held;
    }
    /// True, once: the session is closed and every settlement is answered.
    [[nodiscard]] bool leave(bool is_answered) noexcept {
        if (phase_ != Phase::closing || !is_answered) {
            return false;
        }
        phase_ = Phase::over;
        return true;
    }
    /// The group is gone. Returns the phase before.
    Phase lose() noexcept { return std::exchange(phase_, Phase::over); }

private:
    Phase phase_{Phase::held};
    std::uint32_t credit_{0};
    bool draining_{false};
};

} // namespace sessionq::groups
