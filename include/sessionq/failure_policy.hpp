// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sessionq/backoff_options.hpp>
#include <sessionq/error.hpp>
#include <sessionq/received_message.hpp>
#include <sessionq/time.hpp>

namespace sessionq::inline v1 {

/// How a processor treats a message whose handler threw or called `MessageContext::fail`. Make a
/// policy with the functions:
///
///     const SessionProcessorOptions options{
///         .failure_policy = FailurePolicy::dead_letter().after_attempts(5)};
///
/// An *attempt* is one call of the handler under one lock. A *delivery* is one time that the broker
/// hands the message out. Brokers count deliveries and dead-letter a message that was abandoned too
/// often.
///
/// If the handler settled the message before it threw, that settlement stands and the policy is not
/// applied.
struct FailurePolicy {
    /// What becomes of the message, and of its session.
    enum class Action : std::uint8_t {
        /// The message returns to the broker after `abandon_delay`, and the delivery counts. Until
        /// then the session is parked: no handler of it runs, its lock is renewed, and its slot
        /// takes another session. Without a delay the session is not parked: messages prefetched
        /// behind the failed one return first, and the other handlers of the session end, so it is
        /// the next one redelivered. In a `Processor` the message waits alone, and others are
        /// handled meanwhile.
        abandon,
        /// The message goes to the dead-letter queue, with the exception's text as description. The
        /// session continues.
        dead_letter,
        /// No handler of the session runs for `park_for`. Its lock is renewed. Its slot takes
        /// another session once the other handlers of this one have returned. Then the message is
        /// abandoned and the processor leaves the session.
        park_session,
        /// The message and all behind it in the session are dead-lettered. Then the processor
        /// leaves the session.
        dead_letter_session,
        /// No processor of this library starts a handler of the session until the delay is over.
        /// That survives the processor, the process and the broker: the instant is kept with the
        /// session's state. Then the message is handled again, before those behind it. If several
        /// messages of a session failed, the longest delay counts. Brokers without session state
        /// lack it.
        retry_later,
    };

    /// The action after the last attempt. Default: abandon.
    Action action{Action::abandon};

    /// Attempts under one lock before `action`, including the first. 1: no retry in place. Range: 1
    /// to 1,000. Default 1.
    std::uint32_t max_attempts{1};

    /// Delays between attempts in place. The session keeps its lock and its order, and nothing of
    /// it starts meanwhile. No worker waits. In a `Processor` other messages are handled meanwhile.
    /// Default 100 ms to 30 s.
    BackoffOptions retry_delay{};

    /// With `abandon`: how long the session is parked, or in a `Processor` the message waits,
    /// before the message returns. The first delivery waits for `min`, each later one twice as long
    /// as the one before, up to `max`. So ten deliveries take half a minute or more. A stop does
    /// not wait for it. `min` zero: no delay. Default 100 ms to 30 s.
    BackoffOptions abandon_delay{};

    /// With `park_session`: how long no handler of the session runs. Messages that were fetched
    /// behind this one go back to the broker. Range: zero or more. Default 30 s.
    Duration park_for{std::chrono::seconds{30}};

    /// With `retry_later`: the delay after the first delivery, after the second, and so on. The
    /// last one also follows all later deliveries, until the broker dead-letters the message. Wall
    /// clocks of machines may differ, which may shorten a delay but not prolong it. Range: over
    /// zero to a year, at least one. Default: none.
    std::vector<Duration> retry_delays{};

    /// Abandon, after the default delay.
    [[nodiscard]] static FailurePolicy abandon() { return {}; }
    /// Abandon after this `abandon_delay`.
    [[nodiscard]] static FailurePolicy abandon_after(BackoffOptions delay) {
        return {.abandon_delay = delay};
    }
    /// Abandon without a delay.
    [[nodiscard]] static FailurePolicy abandon_at_once() {
        return abandon_after({.min = Duration::zero(), .max = Duration::zero()});
    }
    /// Dead-letter the message.
    [[nodiscard]] static FailurePolicy dead_letter() { return {.action = Action::dead_letter}; }
    /// Park the session for `length`, then abandon.
    [[nodiscard]] static FailurePolicy park_session(Duration length) {
        return {.action = Action::park_session, .park_for = length};
    }
    /// Dead-letter the message and all behind it in the session.
    [[nodiscard]] static FailurePolicy dead_letter_session() {
        return {.action = Action::dead_letter_session};
    }

    /// The message is abandoned, and its session waits: `retry_later({1min, 10min, 1h})`.
    [[nodiscard]] static FailurePolicy retry_later(std::vector<Duration> delays) {
        return {.action = Action::retry_later, .retry_delays = std::move(delays)};
    }

    /// This policy after `attempts` attempts in all, with `delay` between them. The first attempt
    /// counts: after_attempts(3) calls the handler three times.
    [[nodiscard]] FailurePolicy after_attempts(std::uint32_t attempts,
                                               BackoffOptions delay = {}) const {
        FailurePolicy copy{*this};
        copy.max_attempts = attempts;
        copy.retry_delay = delay;
        return copy;
    }
};

/// For example "park_session".
[[nodiscard]] std::string_view to_string(FailurePolicy::Action action) noexcept;

/// Writes `to_string(action)`.
std::ostream& operator<<(std::ostream& out, FailurePolicy::Action action);

/// A failure of a message handler, for `on_failure` of a processor. A value, which may be kept.
struct FailureContext {
    std::exception_ptr exception{}; ///< The handler's exception. Never null.
    ReceivedMessage message{};
    std::string entity{};
    std::string session_id{};   ///< Empty without a session.
    std::uint32_t attempt{1};   ///< The attempt that failed. The first under a lock is 1.
    FailurePolicy configured{}; ///< `SessionProcessorOptions::failure_policy`.

    /// The same as `exception`, as a value. Of an `Error` and of `MessageContext::fail` it is their
    /// failure. Of another exception it is handler_failed, with the exception's text as detail.
    Failure failure{};

    /// How often the message was delivered and counted before this delivery.
    [[nodiscard]] std::uint32_t delivery_count() const noexcept { return message.delivery_count(); }
};

} // namespace sessionq::inline v1
