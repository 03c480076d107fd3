// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <sessionq/time.hpp>

#include "core/byte_budget.hpp"
#include "core/receive_room.hpp"
#include "ports/session_link.hpp"

namespace sessionq::detail::processor {

/// Counts the credit of one session's link. Decides when to grant more credit and when to drain.
/// `SessionFlow` asks it. The credit stays within the byte budget of the receive thread (R23). No
/// other class counts this credit.
class CreditWindow {
public:
    enum class Phase : std::uint8_t {
        flowing,  ///< credit may be granted
        draining, ///< the broker was asked to use the credit or to give it back
        closed,   ///< no credit any more: the drain was not answered, or the lock is lost
    };

    explicit CreditWindow(core::ByteBudget& budget, core::ReceiveSharePtr share = {}) noexcept
        : budget_{&budget}, share_{std::move(share)} {}

    /// Returns the credit to add for a session that has `held` messages. `set_aside` of these
    /// messages take no place in the window. Returns zero unless at least half of the window is
    /// free, so that flows are few. A session without messages and without credit gets at least 1,
    /// also if the budget is used up. Otherwise no message would ever come.
    [[nodiscard]] std::uint32_t grant(std::uint32_t window, std::uint32_t held,
                                      std::uint32_t set_aside = 0) noexcept {
        const std::uint32_t used = held - set_aside + credit_;
        const bool is_full = used >= window || (used != 0 && (window - used) * 2 < window);
        if (phase_ != Phase::flowing || is_full) {
            return 0;
        }
        const std::uint32_t least = held + credit_ == 0 ? 1 : 0;
        const std::uint32_t granted =
            std::max(least, std::min(window - used, budget_->affordable()));
        credit_ += granted;
        budget_->expect(granted);
        return granted;
    }

    /// The accept carried the credit `first`, and perhaps a drain. The drain's answer is awaited
    /// until `by`. A peer may answer this drain before it grants a session. Such an answer says
    /// nothing about the session's messages, so the drain is in doubt until a message comes.
    void given(ports::FirstCredit first, TimePoint by) noexcept {
        credit_ = first.count;
        budget_->expect(first.count);
        drain_is_in_doubt_ = first.drain && drain(by);
    }

    /// Returns whether to ask for the credit back. If so, the answer is awaited until `by`.
    [[nodiscard]] bool drain(TimePoint by) noexcept {
        if (phase_ != Phase::flowing || credit_ == 0) {
            return false;
        }
        phase_ = Phase::draining;
        drain_by_ = by;
        return true;
    }

    /// A message came. It used credit, or its credit was counted as given back before.
    void arrived(std::size_t bytes) noexcept {
        if (credit_ != 0) {
            --credit_;
            budget_->unexpect(1);
        }
        budget_->arrived(bytes);
        if (share_ != nullptr) {
            share_->arrived(bytes);
        }
        shown_empty_ = false;
        drain_is_in_doubt_ = false;
    }

    void left(std::size_t bytes) noexcept {
        budget_->gone(bytes);
        if (share_ != nullptr) {
            share_->gone(bytes);
        }
    }

    /// The broker answered the drain. If credit is left, the broker had no more messages. Returns
    /// false if the drain was in doubt: its answer then shows nothing.
    bool drained() noexcept {
        const bool is_in_doubt = std::exchange(drain_is_in_doubt_, false);
        if (is_draining()) {
            phase_ = Phase::flowing;
            shown_empty_ = credit_ != 0 && !is_in_doubt;
            give_back();
        }
        return !is_in_doubt;
    }

    void close() noexcept {
        phase_ = Phase::closed;
        give_back();
    }

    [[nodiscard]] Phase phase() const noexcept { return phase_; }
    [[nodiscard]] bool is_draining() const noexcept { return phase_ == Phase::draining; }
    /// When an unanswered drain is overdue; TimePoint::max(): there is none.
    [[nodiscard]] TimePoint drain_by() const noexcept {
        return is_draining() ? drain_by_ : TimePoint::max();
    }
    [[nodiscard]] std::uint32_t credit() const noexcept { return credit_; }
    [[nodiscard]] bool shown_empty() const noexcept { return shown_empty_; }

private:
    void give_back() noexcept { budget_->unexpect(std::exchange(credit_, 0)); }

    core::ByteBudget* budget_;
    core::ReceiveSharePtr share_;
    std::uint32_t credit_{0};
    Phase phase_{Phase::flowing};
    bool shown_empty_{false};
    bool drain_is_in_doubt_{false};
    TimePoint drain_by_{};
};

} // namespace sessionq::detail::processor
