// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sessionq/error.hpp>
#include <sessionq/health.hpp>
#include <sessionq/time.hpp>

namespace sessionq::inline v1 {

/// Where an error of a processor came from.
enum class ErrorSource : std::uint8_t {
    /// An accept failed. The entity is asked again, see `SessionProcessorOptions::error_backoff`.
    /// Accepts of one entity that fail together in the same way are told once.
    accept,
    /// `on_session_open` failed (handler_failed).
    session_open,
    /// `on_message` or `on_messages` threw, or called `MessageContext::fail` (handler_failed). The
    /// failure policy follows.
    message_handler,
    /// `on_session_close` failed (handler_failed).
    session_close,
    /// The broker rejected a settlement or did not answer. The processor leaves the session.
    settlement,
    /// A renewal failed, or the lock expired.
    lock_renewal,
    /// The session was lost.
    link,
    /// `on_failure` threw (handler_failed) or returned an invalid policy (invalid_option,
    /// not_supported). `SessionProcessorOptions::failure_policy` follows.
    failure_policy,
    /// The delay of `FailurePolicy::retry_later` could not be read from the session's state, or not
    /// be kept there. If it was not read, the processor leaves the session.
    session_record,
    /// `SessionProcessorOptions::executor` threw, or destroyed a work that it had not run
    /// (handler_failed). It is tried again after 100 ms. Told once until it runs a work again.
    executor,
};

/// For example "lock_renewal".
[[nodiscard]] std::string_view to_string(ErrorSource source) noexcept;

/// Writes `to_string(source)`.
std::ostream& operator<<(std::ostream& out, ErrorSource source);

/// The fate of a message after an error.
///
/// Example:
///
///     processor.on_error([](const ErrorContext& error) {
///         if (error.fate == MessageFate::dead_lettered) {
///             std::cerr << error.to_string() << '\n';
///         }
///     });
enum class MessageFate : std::uint8_t {
    none,          ///< The error concerns no message, or leaves its fate open.
    tried_again,   ///< It stays here and is handled again, after the policy's delay.
    abandoned,     ///< It goes back to the broker, counted, and comes again.
    comes_again,   ///< It goes back uncounted, or the broker has it already: it comes again.
    parked,        ///< Its session is parked. It comes again when that is over.
    retried_later, ///< It comes again when the delay of `FailurePolicy::retry_later` is over.
    dead_lettered, ///< It goes to the dead-letter queue and does not come again.
    settled,       ///< It was settled before the error: that stands.
    removed,       ///< With `receive_and_delete`: the broker has removed it. It is gone.
};

/// For example "comes_again".
[[nodiscard]] std::string_view to_string(MessageFate fate) noexcept;

/// Writes `to_string(fate)`.
std::ostream& operator<<(std::ostream& out, MessageFate fate);

/// Whether the message will be handled again.
[[nodiscard]] bool is_handled_again(MessageFate fate) noexcept;

/// The argument of `on_error`. A value, which may be kept.
struct ErrorContext {
    ErrorSource source{ErrorSource::link};
    Failure failure{};
    std::string entity{};
    std::string session_id{};        ///< Empty: the error concerns no session.
    std::string message_id{};        ///< Empty: no message, or it has no id.
    std::int64_t sequence_number{0}; ///< Zero: it concerns no message.
    /// The attempt of the message that failed, 1 at first. Zero: it concerns no attempt.
    std::uint32_t attempt{0};
    MessageFate fate{MessageFate::none};

    /// One line for people: the place, the failure, its reason, and the fate of the message.
    [[nodiscard]] std::string to_string() const;
};

/// Where a processor is in its life.
enum class ProcessorState : std::uint8_t {
    created, ///< It was never started.
    running,
    paused,   ///< It was asked to pause. Its sessions may still be on their way back.
    stopping, ///< It was asked to stop, and has not stopped.
    /// It has stopped. If it gave up handlers (`StopReport::left`), they may still run. It may
    /// start again.
    stopped,
};

/// For example "running".
[[nodiscard]] std::string_view to_string(ProcessorState state) noexcept;

/// Writes `to_string(state)`.
std::ostream& operator<<(std::ostream& out, ProcessorState state);

/// The result of `stop` and `wait`. With `on_messages` it counts the messages of handlers.
struct StopReport {
    /// Everything ended by the deadline, or the processor never started.
    bool complete{false};
    /// A handler or another callback of this processor called `stop`. Stopping was requested and
    /// continues.
    bool requested_only{false};
    /// Handlers that finished during the stop.
    std::uint64_t drained{0};
    /// Messages returned to the broker that no handler had started.
    std::uint64_t released{0};
    /// Handlers that ran when their stop tokens fired.
    std::uint64_t cancelled{0};
    /// Handlers that still ran at the deadline, including those of sessions. The processor gave up
    /// their sessions.
    std::uint64_t left{0};
    /// Sessions that were held when the stop began.
    std::uint64_t sessions{0};
};

/// Totals since the last start. A session or message that comes again counts again.
struct ProcessorCounters {
    std::uint64_t messages_received{0};    ///< Messages that came.
    std::uint64_t messages_redelivered{0}; ///< Those of them that had been delivered before.
    std::uint64_t messages_handled{0};     ///< Their handlers returned.
    std::uint64_t messages_failed{0};      ///< Their handlers threw. Each attempt counts.
    std::uint64_t messages_retried{0};     ///< Attempts in place after the first.
    std::uint64_t messages_expired{0};     ///< Messages past their own deadline.

    // Settlements that the broker confirmed
    std::uint64_t messages_completed{0};
    std::uint64_t messages_abandoned{0}; ///< Returned, and the delivery counts.
    std::uint64_t messages_dead_lettered{0};
    std::uint64_t messages_deferred{0};
    std::uint64_t messages_released{0}; ///< Returned uncounted: unhandled, or `release`.

    /// Messages of which the broker confirmed nothing, because the lock or the link was lost or the
    /// settlement failed. They come again.
    std::uint64_t messages_lost{0};

    /// Sessions opened, without those given back before anything of them could start.
    std::uint64_t sessions_opened{0};
    /// Opened sessions that were closed, including those whose lock was lost. Also called rolls.
    std::uint64_t sessions_closed{0};
    /// Sessions that were parked without a slot, see `FailurePolicy::park_session`.
    std::uint64_t sessions_parked{0};
    /// Sessions whose lock was lost.
    std::uint64_t locks_lost{0};
    /// Accepts that found no session. This is no error.
    std::uint64_t empty_accepts{0};
    /// Accepts that failed. Those of one entity that fail together in the same way count once.
    std::uint64_t accept_failures{0};
    /// Sessions that came after their accept was given up. They were released at once.
    std::uint64_t late_accepts{0};
    /// Sessions that came when no slot was free any more, because several entities are asked at
    /// once. They were released at once.
    std::uint64_t surplus_accepts{0};
    std::uint64_t settlement_failures{0};
    std::uint64_t lock_renewals{0};

    /// Longest time between a message's arrival and its handler's start, of messages that were
    /// first in their session.
    Duration longest_ready_wait{};
};

/// The state of one slot, or of a session that is held without one.
struct SlotDescription {
    std::string entity{};
    std::string session_id{}; ///< Empty: the slot holds no session.
    /// One of vacant, accepting, backing_off, opening, open, parked, rewinding, leaving, closing,
    /// paused, stopped. `paused`: the processor pauses, and the slot holds no session.
    std::string state{};
    /// The pending I/O, timer or handler, in words.
    std::string waits_for{};
    /// Time since its last progress: it changed state, received its first message, or finished a
    /// handler.
    Duration since{};
    /// Most messages of the session that are fetched and not yet finished now, see
    /// `SessionProcessorOptions::prefetch`. Zero: the slot holds no session.
    std::uint32_t window{0};
    std::uint32_t in_flight{0}; ///< Messages received and not yet finished.
    std::uint32_t running{0};   ///< Handlers that run. With `on_messages`: their messages.
    /// How long a message has been ready while no handler of the session runs: it waits for a
    /// worker. Zero: none is.
    Duration ready_for{};
};

/// The works that `SessionProcessorOptions::executor` has now, see `HandlerWork`.
///
/// Example:
///
///     if (const std::optional<ExecutorDescription> works = processor.describe().executor) {
///         std::cout << works->waiting << " works wait\n";
///     }
struct ExecutorDescription {
    std::uint64_t waiting{0}; ///< The executor has not begun to run them.
    std::uint64_t running{0};
};

/// The state of a processor.
struct ProcessorDescription {
    using State = ProcessorState;
    State state{State::created};
    std::vector<std::string> entities{}; ///< The entities that it consumes.
    Health health{};
    /// Unset: the processor has workers of its own, or was not started.
    std::optional<ExecutorDescription> executor{};
    std::size_t buffered_bytes{0}; ///< Bytes that count against `max_buffered_bytes`.
    ProcessorCounters counters{};
    std::vector<SlotDescription> slots{};
    std::vector<SlotDescription> parked{}; ///< Sessions held without a slot.
    /// Sessions that are left as soon as the broker has answered their last settlements and, if a
    /// delay of theirs is over (`FailurePolicy::retry_later`), has noted that. Until then they are
    /// held without a slot, see `SessionProcessorOptions::max_concurrent_sessions`.
    std::vector<SlotDescription> settling{};
    /// How long a session may keep its slot now, see `SessionProcessorOptions::max_hold`. Zero: no
    /// limit.
    Duration session_hold{};
    /// Within this a session that is ready gets a slot, if handlers end in time: known while the
    /// broker tells how many wait and `max_hold` is unset. Zero: unknown, or none waits.
    Duration ready_bound{};

    /// A table for people, without secrets and message bodies.
    [[nodiscard]] std::string to_string() const;

    /// One line of JSON with the same. Its members are named as those of these structures, lengths
    /// of time are seconds, states and causes are their names. A health reason has `advice`, too.
    /// Bytes that are not UTF-8 become U+FFFD.
    [[nodiscard]] std::string to_json() const;
};

} // namespace sessionq::inline v1
