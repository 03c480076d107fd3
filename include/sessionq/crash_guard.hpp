// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <string_view>

#include <sessionq/time.hpp>

namespace sessionq::inline v1 {

/// How a processor treats messages that kill their consumers: a handler that crashes the process,
/// or runs it out of memory, has no chance to throw. For `SessionProcessorOptions::crash_guard`.
///
///     const SessionProcessorOptions options{.crash_guard = CrashGuard{.deaths = 3}};
///
/// A message is a *suspect* if it was delivered before, or if an earlier holder of its session had
/// it and was lost. Before the handler of a suspect starts, the attempt is noted with the session's
/// state, beside the application's bytes. When the handler has returned or thrown, the note goes. A
/// note that the next holder finds is a *death*: the holder was lost while it handled the message.
/// The first holder that is lost counts, too, if the broker tells of it. That is a presumption,
/// because it may have had other messages in hand; so `deaths` is at least 2.
///
/// Cost: nothing for a message that is no suspect. A suspect waits until its note is written, and
/// the next message of its session until the suspect's settlement is confirmed: three round trips,
/// and one more when the session is given back. A suspect that is near `then` is handled while the
/// processor handles no other suspect. So no message is dead-lettered, and no session parked, for a
/// death that another suspect caused; only messages that kill for the first time may count as
/// deaths of those handled beside them.
///
/// A process that lives but loses its connection or lock while a note stands looks like a death to
/// the next holder: amid a handler of a suspect, shortly before it starts, or until the note is
/// gone. So does one that is killed from outside then.
///
/// Brokers: the local broker and `sessionqd` tell on each message whether a holder of it was lost,
/// as long as they run themselves. Azure Service Bus does not, and counts no delivery either when a
/// holder is lost. There, and where a `LocalBroker` dies with its process, set `every_session`.
///
/// It needs session state and one handler per session (`max_concurrent_calls_per_session` 1): of
/// several, nobody knows which one killed the process.
///
/// Example:
///
///     SessionProcessor guarded{
///         client, "orders",
///         {.max_concurrent_calls_per_session = 1,
///          .crash_guard = CrashGuard{.then = CrashGuard::Action::park_session}}};
struct CrashGuard {
    /// What becomes of the message.
    enum class Action : std::uint8_t {
        /// The message goes to the dead-letter queue, reason "ConsumerLost". The session continues.
        dead_letter,
        /// No handler of the session runs for `park_for`. Its lock is renewed, and its slot takes
        /// another session. Then the message returns to the broker, which counts that delivery.
        park_session,
    };

    /// Consumers that a message may kill. Then it is not handled any more, and `then` applies.
    /// Range: 2 to 1,000. Default 3.
    std::uint32_t deaths{3};

    /// The action for a message that has killed `deaths` consumers. Default: dead_letter.
    Action then{Action::dead_letter};

    /// With `park_session`: how long no handler of the session runs. Range: zero or more. Zero: the
    /// message returns at once. Default 30 s.
    Duration park_for{std::chrono::seconds{30}};

    /// True: the first message of each session that is accepted is a suspect. That costs three
    /// round trips once a session, and one more when the session is given back. A message that was
    /// not the first when it killed for the first time then kills once more than `deaths`. False:
    /// only the broker's facts make a suspect. Default false.
    bool every_session{false};
};

/// For example "park_session".
[[nodiscard]] std::string_view to_string(CrashGuard::Action action) noexcept;

/// Writes `to_string(action)`.
std::ostream& operator<<(std::ostream& out, CrashGuard::Action action);

} // namespace sessionq::inline v1
