// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include <sessionq/deadline.hpp>
#include <sessionq/time.hpp>

namespace sessionq::detail::processor {

/// The next steps of a shard that stops. Several may be set. The shard performs them in the order
/// of the members.
struct StopActions {
    bool stop_slots{false}; ///< once: leave the sessions, accept none
    bool warn{false};       ///< fire the stop tokens of handlers
    bool give_up{false};    ///< give up the sessions whose handlers still run
    bool tell{false};       ///< report that the shard has stopped; `complete`: nothing was given up
    bool complete{false};
    bool let_go{false}; ///< drop the shard: its last handler has returned
};

/// The deadline of a stop, and the instant before it at which the stop tokens of handlers fire.
struct StopTerms {
    StopTerms(Deadline by, std::optional<TimePoint> cancel = {}) noexcept // NOLINT: a deadline
        : deadline{by}, cancel_at{cancel} {}

    Deadline deadline;
    /// When the stop tokens fire. Unset: before the deadline, by a tenth of the time that is left,
    /// but by at most a second.
    std::optional<TimePoint> cancel_at;
};

/// Decides how a shard stops by a deadline (R18). The shard asks it when the application stops the
/// processor, at the end of each turn, and when the stop timer is due. The shard first waits for
/// handlers, settlements and late sessions. Shortly before the deadline the stop tokens fire. At
/// the deadline the shard gives up the rest and reports. No I/O, no clock.
class StopMachine {
public:
    enum class Phase : std::uint8_t {
        running,
        stopping, ///< waits for handlers, settlements and late sessions until the deadline
        warned,   ///< the same; the stop tokens of the handlers have fired
        told,     ///< the shard has reported that it stopped; handlers may still run
        gone,
    };

    /// The work that is left on the shard.
    struct Rest {
        bool sessions{false};
        bool accepts{false}; ///< accepts without an answer, and sessions that came late
    };

    /// Begins to stop. In a further call, only an earlier deadline has an effect.
    [[nodiscard]] StopActions stop(const StopTerms& terms, TimePoint now) noexcept {
        if (phase_ == Phase::running) {
            phase_ = Phase::stopping;
            set(terms, now);
            return {.stop_slots = true};
        }
        if (is_stopping() && terms.deadline.time() < deadline_.time()) {
            set(terms, now);
        }
        return {};
    }

    /// Sessions or accepts may have ended. Called at the end of each turn.
    [[nodiscard]] StopActions changed(Rest rest) noexcept {
        if (is_stopping() && !rest.sessions && !rest.accepts) {
            phase_ = Phase::gone;
            return {.tell = true, .complete = true, .let_go = true};
        }
        if (phase_ == Phase::told && !rest.sessions) {
            phase_ = Phase::gone;
            return {.let_go = true};
        }
        return {};
    }

    [[nodiscard]] StopActions due(TimePoint now) noexcept {
        if (is_stopping() && deadline_.passed(now)) {
            phase_ = Phase::told;
            return {.give_up = true, .tell = true};
        }
        if (phase_ == Phase::stopping && now >= warn_at_) {
            phase_ = Phase::warned;
            return {.warn = true};
        }
        return {};
    }

    /// When to call `due`; TimePoint::max(): never.
    [[nodiscard]] TimePoint next() const noexcept {
        switch (phase_) {
        case Phase::stopping: return warn_at_;
        case Phase::warned: return deadline_.time();
        default: return TimePoint::max();
        }
    }

    [[nodiscard]] Phase phase() const noexcept { return phase_; }

private:
    [[nodiscard]] bool is_stopping() const noexcept {
        return phase_ == Phase::stopping || phase_ == Phase::warned;
    }
    void set(const StopTerms& terms, TimePoint now) noexcept {
        deadline_ = terms.deadline;
        const Duration left = deadline_.remaining(now);
        const TimePoint usual =
            deadline_.is_never()
                ? TimePoint::max()
                : deadline_.time() - std::min<Duration>(left / 10, std::chrono::seconds{1});
        warn_at_ = terms.cancel_at.value_or(usual);
    }

    Phase phase_{Phase::running};
    Deadline deadline_{};
    TimePoint warn_at_{TimePoint::max()};
};

} // namespace sessionq::detail::processor
