// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include <sessionq/deadline.hpp>
#include <sessionq/time.hpp>

namespace sessionq::processor {

/// What a shard does next to stop; several at once, in the order of the members.
struct StopActions {
    bool stop_slots{false}; ///< once: leave the sessions, accept none
    bool warn{false};       ///< the stop tokens of handlers fire
    bool give_up{false};    ///< the sessions whose handlers still run are given up
    bool tell{false};       ///< say that it has stopped; `complete`: nothing was given up
    bool complete{false};
    bool let_go{false}; ///< the last handler that was left has returned
};

/// By when to stop, and when the stop tokens of handlers fire meanwhile.
struct StopTerms {
    StopTerms(Deadline by, std::optional<TimePoint> cancel = {}) noexcept // NOLINT: a deadline
        : deadline{by}, cancel_at{cancel} {}

    Deadline deadline;
    /// Unset: a tenth of the time before the deadline, at most a second.
    std::optional<TimePoint> cancel_at;
};

/// Decides how a shard stops by a deadline (R18). No I/O, no clock.
class StopMachine {
public:
    enum class Phase : std::uint8_t {
        running,
        stopping, ///< waits for handlers, settlements and late sessions until the deadline
        warned,   ///< the same; the handlers were told that the deadline is near
        told,     ///< it was said that the shard has stopped; handlers may still run
        gone,
    };

    /// What is left on the shard.
    struct Rest {
        bool sessions{false};
        bool accepts{false}; ///< accepts given up and sessions that came late
    };

    /// Asked again: an earlier deadline counts from now on.
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

    /// Something has ended.
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

} // namespace sessionq::processor
