// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

#include <sessionq/time.hpp>

namespace sessionq::groups {

/// Decides when a link to a queue without sessions is drained and detached. It is drained before it
/// goes: a detach may count messages under way as delivered. No I/O, no clock.
class EntityLinkMachine {
public:
    /// A broker may overlook a drain, so it is repeated after this.
    static constexpr Duration drain_patience = std::chrono::milliseconds{300};
    /// A link whose drain is not answered for so long is of no more use.
    static constexpr Duration longest_drain = std::chrono::seconds{10};

    enum class Phase : std::uint8_t {
        attaching, ///< waits for the broker's attach
        held,
        leaving, ///< closed by the owner; the last drain or settlements are unanswered
        closing, ///< waits for the broker's detach
        over,    ///< left or lost
    };
    enum class Action : std::uint8_t {
        none,
        drain,        ///< then call `drained`
        repeat_drain, ///< with credit, so that there is something to be drained
        tell_drained, ///< the owner's drain is answered
        detach,       ///< release unsettled messages, and detach
        abandon,      ///< the broker does not answer: drop the link
    };

    [[nodiscard]] Phase phase() const noexcept { return phase_; }
    [[nodiscard]] bool is_held() const noexcept { return phase_ == Phase::held; }
    /// Settlements can be sent.
    [[nodiscard]] bool is_attached() const noexcept {
        return phase_ == Phase::held || phase_ == Phase::leaving;
    }
    /// False: the owner may not ask for messages now.
    [[nodiscard]] bool add_credit(std::uint32_t count) noexcept {
        const bool may = is_held() && !is_draining_;
        credit_ += may ? count : 0;
        return may;
    }
    /// A message came. False: the owner did not ask for it. A repeated drain may bring one.
    [[nodiscard]] bool gives() noexcept {
        if (!is_held() || credit_ == 0) {
            return false;
        }
        --credit_;
        return true;
    }
    /// When to call `on_time`; TimePoint::max(): not at all.
    [[nodiscard]] TimePoint due() const noexcept {
        return is_draining_ && is_attached() ? repeat_at_ : TimePoint::max();
    }

    /// Messages are numbered as they come: these brokers do not.
    [[nodiscard]] std::int64_t next_number() noexcept { return ++last_number_; }

    void attached() noexcept { phase_ = phase_ == Phase::attaching ? Phase::held : phase_; }
    [[nodiscard]] Action drain(TimePoint now) noexcept {
        return is_held() ? begin_drain(now) : Action::none;
    }
    /// The owner wants no more.
    [[nodiscard]] Action close(TimePoint now) noexcept {
        if (!is_held()) {
            return Action::none;
        }
        phase_ = Phase::leaving;
        return begin_drain(now);
    }
    /// `is_answered`: no settlement waits for the broker.
    [[nodiscard]] Action drained(bool is_answered) noexcept {
        if (!is_attached() || !std::exchange(is_draining_, false)) {
            return Action::none;
        }
        credit_ = 0;
        return is_held() ? Action::tell_drained : answered(is_answered);
    }
    /// A settlement was answered.
    [[nodiscard]] Action answered(bool is_answered) noexcept {
        if (phase_ != Phase::leaving || is_draining_ || !is_answered) {
            return Action::none;
        }
        phase_ = Phase::closing;
        return Action::detach;
    }
    [[nodiscard]] Action on_time(TimePoint now) noexcept {
        if (now < due()) {
            return Action::none;
        }
        repeat_at_ = now + drain_patience;
        return now < drain_until_ ? Action::repeat_drain : Action::abandon;
    }
    /// The link is gone. Returns the phase before.
    Phase lose() noexcept { return std::exchange(phase_, Phase::over); }

private:
    Action begin_drain(TimePoint now) noexcept {
        if (std::exchange(is_draining_, true)) {
            return Action::none; // its answer is the answer to this one, too
        }
        repeat_at_ = now + drain_patience;
        drain_until_ = now + longest_drain;
        return Action::drain;
    }

    Phase phase_{Phase::attaching};
    bool is_draining_{false};
    std::uint32_t credit_{0};
    TimePoint repeat_at_{};
    TimePoint drain_until_{};
    std::int64_t last_number_{0};
};

} // namespace sessionq::groups
