// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <utility>

#include <sessionq/time.hpp>

#include "groups/drain_repeat.hpp"

namespace sessionq::groups {

/// Decides when a link to a queue without sessions is drained and detached. Each `EntityLink` has a
/// machine. The link is drained before it is detached. Without the drain, the broker may count
/// messages that are under way as delivered. No I/O, no clock.
class EntityLinkMachine {
public:
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
        repeat_drain, ///< add a credit and drain again, because only credit can be drained
        tell_drained, ///< the owner's drain is answered
        detach,       ///< release unsettled messages, and detach
        abandon,      ///< the broker does not answer: drop the link
    };

    [[nodiscard]] Phase phase() const noexcept { return phase_; }
    [[nodiscard]] bool is_held() const noexcept { return phase_ == Phase::held; }
    /// Whether settlements can be sent.
    [[nodiscard]] bool is_attached() const noexcept {
        return phase_ == Phase::held || phase_ == Phase::leaving;
    }
    /// False: the owner may not ask for messages now.
    [[nodiscard]] bool add_credit(std::uint32_t count) noexcept {
        const bool may = is_held() && !drain_.is_under_way();
        credit_ += may ? count : 0;
        return may;
    }
    /// A message came. Returns whether to give it to the owner. False if the link is closed, or if
    /// the owner did not ask for the message. A repeated drain may bring such a message.
    [[nodiscard]] bool gives() noexcept {
        if (!is_held() || credit_ == 0) {
            return false;
        }
        --credit_;
        return true;
    }
    /// When to call `on_time`; TimePoint::max(): not at all.
    [[nodiscard]] TimePoint due() const noexcept { return drain_.due(); }

    /// Returns the number of the next message. These brokers do not number messages.
    [[nodiscard]] std::int64_t next_number() noexcept { return ++last_number_; }

    void attached() noexcept { phase_ = phase_ == Phase::attaching ? Phase::held : phase_; }
    [[nodiscard]] Action drain(TimePoint now) noexcept {
        return is_held() ? begin_drain(now) : Action::none;
    }
    /// The owner closes the link.
    [[nodiscard]] Action close(TimePoint now) noexcept {
        if (!is_held()) {
            return Action::none;
        }
        phase_ = Phase::leaving;
        return begin_drain(now);
    }
    /// The broker answered the drain. `is_answered`: no settlement waits for the broker.
    [[nodiscard]] Action drained(bool is_answered) noexcept {
        if (!drain_.end()) {
            return Action::none;
        }
        credit_ = 0;
        return is_held() ? Action::tell_drained : answered(is_answered);
    }
    /// A settlement was answered.
    [[nodiscard]] Action answered(bool is_answered) noexcept {
        if (phase_ != Phase::leaving || drain_.is_under_way() || !is_answered) {
            return Action::none;
        }
        phase_ = Phase::closing;
        return Action::detach;
    }
    [[nodiscard]] Action on_time(TimePoint now) noexcept {
        if (now < due()) {
            return Action::none;
        }
        return drain_.repeat(now) ? Action::repeat_drain : Action::abandon;
    }
    /// The link is gone. Returns the phase before.
    Phase lose() noexcept {
        drain_.end();
        return std::exchange(phase_, Phase::over);
    }

private:
    Action begin_drain(TimePoint now) noexcept {
        if (drain_.is_under_way()) {
            return Action::none; // one answer serves both drains
        }
        drain_.begin(now);
        return Action::drain;
    }

    Phase phase_{Phase::attaching};
    DrainRepeat drain_{};
    std::uint32_t credit_{0};
    std::int64_t last_number_{0};
};

} // namespace sessionq::groups
