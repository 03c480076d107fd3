// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>

#include <sessionq/processor_options.hpp>
#include <sessionq/time.hpp>

namespace sessionq::simulation {

/// What the oracles expect of the consumer: its configuration, and the events that excuse a
/// deviation.
struct Expectations {
    SessionProcessorOptions options{};
    std::uint32_t batch{1}; ///< most messages that a handler gets
    std::size_t entities{1};
    std::size_t workers{1};
    std::size_t loops{1};

    /// Sessions that keep no slot, at this instant.
    std::function<std::size_t()> without_slot{[] { return std::size_t{0}; }};

    /// A slot looks for a session at this instant.
    std::function<bool()> looks_for_session{[] { return false; }};

    Duration drain_bound{
        std::chrono::seconds{5}}; ///< the consumer waits at least so long for a drain's answer
    Duration settle_bound{std::chrono::seconds{30}}; ///< the same for the answers to settlements

    bool close_handler{false};           ///< on_session_close is set
    bool limits_change{false};           ///< limits change during the run
    bool pauses{false};                  ///< the processor is paused during the run
    bool voluntary_leave{false};         ///< the application gave up a session
    bool redrives_hold{false};           ///< redrives hold the sessions
    bool detects_duplicates{false};      ///< the broker does
    bool deferred_may_be_missing{false}; ///< a lost holder may still have deferred messages
    bool states_for_suspects{false};     ///< handlers do not use the states
    bool faults_possible{false};
    bool stalls_possible{false};
    bool locks_last{false}; ///< no fault ends a lock that is renewed
    bool connects{false};   ///< connections reconnect with a backoff of their own
    Duration aftermath{};   ///< how long faults may have effects in calm times, beyond the waits of
                            ///< the consumer itself
    TimePoint calm_since{TimePoint::max()}; ///< no fault begins later

    std::optional<TimePoint> paused{}; ///< since when, until it is resumed

    TimePoint stop_asked{TimePoint::max()};
    TimePoint stop_deadline{TimePoint::max()};
    bool stop_answered{false};
    bool stop_is_quick{false};      ///< nothing in this world delays a stop
    std::uint64_t handlers_left{0}; ///< according to the report of `stop`

    /// Sessions may be left that were not idle for the whole timeout.
    [[nodiscard]] bool leaves_for_more_than_idleness(TimePoint now) const {
        const auto action = options.failure_policy.action;
        return now >= stop_asked || limits_change || pauses || voluntary_leave ||
               options.max_hold != Duration::zero() || options.max_messages_per_turn != 0 ||
               action == FailurePolicy::Action::park_session ||
               action == FailurePolicy::Action::retry_later ||
               (action == FailurePolicy::Action::abandon &&
                options.failure_policy.abandon_delay.min != Duration::zero()) ||
               action == FailurePolicy::Action::dead_letter_session ||
               options.crash_guard.has_value(); // it may park
    }

    /// Once no handler runs, a pause takes no longer to leave all sessions.
    [[nodiscard]] Duration pause_bound() const {
        return locks_last ? Duration{std::chrono::seconds{3}}
                          : drain_bound + settle_bound + std::chrono::seconds{25} + aftermath;
    }

    /// Limits in force, oldest first. Whoever read a limit in the instant in which it was lowered
    /// is excused.
    struct Limits {
        TimePoint since{};
        std::uint32_t max_concurrent_sessions{};
        std::uint32_t max_concurrent_calls_per_session{};
        std::uint32_t max_concurrent_calls{};
        std::optional<std::uint32_t> prefetch{};
    };
    std::deque<Limits> limits{};

    /// The highest of all limits so far.
    [[nodiscard]] std::uint32_t highest_sessions() const {
        std::uint32_t found = 0;
        for (const Limits& each : limits) {
            found = std::max(found, each.max_concurrent_sessions);
        }
        return found;
    }

    /// The highest prefetch in force at any time between the two; zero: the processor chose.
    [[nodiscard]] std::uint32_t highest_prefetch(TimePoint from, TimePoint to) const {
        std::uint32_t current = options.prefetch;
        std::uint32_t found = 0;
        for (std::size_t i = 0; i < limits.size() && limits[i].since <= to; ++i) {
            current = limits[i].prefetch.value_or(current);
            const bool counts = i + 1 == limits.size() || limits[i + 1].since >= from;
            if (counts && current == 0) {
                return 0;
            }
            found = counts ? std::max(found, current) : found;
        }
        return found;
    }

    /// The highest value of a limit that may still be in use at `now`.
    [[nodiscard]] std::uint32_t highest(std::uint32_t Limits::*which, TimePoint now) const {
        std::uint32_t found = limits.back().*which;
        for (std::size_t i = 0; i + 1 < limits.size(); ++i) {
            if (limits[i + 1].since + std::chrono::milliseconds{25} >=
                now) { // a call taken under it may start now
                const std::uint32_t value = limits[i].*which;
                found = value == 0 || found == 0 ? 0 : std::max(found, value);
            }
        }
        return found;
    }
};

} // namespace sessionq::simulation
