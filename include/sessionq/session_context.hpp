// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <sessionq/call_options.hpp>
#include <sessionq/deadline.hpp>
#include <sessionq/result.hpp>
#include <sessionq/session_message.hpp>

namespace sessionq::detail::client {
struct Access;
} // namespace sessionq::detail::client

namespace sessionq::detail::processor {
class HandledSession;
} // namespace sessionq::detail::processor

namespace sessionq::inline v1 {

/// Why a processor left a session.
enum class CloseReason : std::uint8_t {
    idle,            ///< It was idle for the idle timeout, and the broker had no more messages.
    released,        ///< The application asked for it (`SessionContext::release`).
    stopped,         ///< The processor stops.
    max_hold,        ///< The session kept its slot for `max_hold`, or others waited for it.
    max_messages,    ///< `max_messages_per_turn` messages were handled.
    limit_lowered,   ///< `max_concurrent_sessions` was lowered.
    paused,          ///< The processor pauses.
    parked,          ///< By the failure policy, or a handler released a message.
    dead_lettered,   ///< The failure policy dead-lettered the rest of the session.
    open_failed,     ///< `on_session_open` failed, and the session was parked for that.
    lock_lost,       ///< The lock expired, could not be renewed, or was taken by the broker.
    connection_lost, ///< The link or connection ended, or the entity was deleted or disabled.
    unresponsive,    ///< The broker did not answer in time.
};

/// For example "max_hold".
[[nodiscard]] std::string_view to_string(CloseReason reason) noexcept;

/// Writes `to_string(reason)`.
std::ostream& operator<<(std::ostream& out, CloseReason reason);

/// A session that a processor holds, as its handlers see it.
///
/// Example:
///
///     processor.on_session_close([](SessionContext& session, CloseReason reason) {
///         if (reason != CloseReason::lock_lost) {
///             session.set_state("closed: " + std::string{to_string(reason)});
///         }
///     });
///
/// Lifetimes: the context and its strings are valid until the handler returns that it was passed to
/// (a handler that finishes later: until it finishes). A context only refers to its session, so a
/// kept copy would outlive the session and crash the program. For that reason contexts can neither
/// be copied nor moved. Take them by reference, and keep a copy of `session_id()`.
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: safe.
class SessionContext {
public:
    SessionContext(const SessionContext&) = delete; // take it by reference, copy session_id()
    SessionContext& operator=(const SessionContext&) = delete;
    ~SessionContext() = default;

    [[nodiscard]] const std::string& session_id() const noexcept;
    [[nodiscard]] const std::string& entity() const noexcept;

    /// When the lock expires unless it is renewed. The processor renews it. never() if the broker's
    /// locks have no time limit.
    [[nodiscard]] Deadline lock_expires() const noexcept;

    /// Fires shortly before the lock expires, when it is lost, and shortly before the deadline of
    /// `SessionProcessor::stop`. Its callbacks run one after another on a thread that the processor
    /// keeps for them.
    [[nodiscard]] std::stop_token stop_token() const noexcept;

    /// Asks the processor to leave the session after the handlers that run now. Messages that have
    /// not started are released. Returns at once.
    void release() noexcept;

    /// Returns the session's state: the bytes that the broker keeps for it, if any. Waits for the
    /// answer until the deadline of the call.
    /// Errors: the broker's (see `Errc`), lock_lost, session_not_found, message_too_large.
    [[nodiscard]] std::optional<std::string> state(const CallOptions& call = {});

    /// Replaces the session's state. An unset or empty `state` clears it. Waits for the answer
    /// until the deadline of the call.
    /// Errors: the broker's (see `Errc`), lock_lost, session_not_found, message_too_large.
    void set_state(std::optional<std::string> state, const CallOptions& call = {});

    /// Returns deferred messages of this session, in the order of the numbers, all or none. Without
    /// numbers it returns none. Waits for the answer until the deadline of the call. The handler
    /// must settle each of them: they do not count as messages of the processor, and no failure
    /// policy applies to them.
    ///
    /// Lifetimes: settle them before the handler returns. The session may be left soon afterwards,
    /// and then settling fails with lock_lost. A message that is not settled stays deferred, and
    /// its delivery does not count. It can be received again once the session has been left.
    /// `LockedMessage::renew_lock` of these messages is not_supported: the processor renews locks.
    ///
    /// Example:
    ///
    ///     processor.on_message([](MessageContext& context) {
    ///         const ReceivedMessage& message = context.message();
    ///         if (message.text() == "wait") {
    ///             auto session = context.session();
    ///             session.set_state(std::to_string(message.sequence_number()));
    ///             context.defer();
    ///         } else if (const auto waits = context.session().state()) {
    ///             const std::int64_t number = std::stoll(*waits);
    ///             for (auto& deferred : context.session().receive_deferred({number})) {
    ///                 deferred.complete();
    ///             }
    ///         }
    ///     });
    ///
    /// Errors: the broker's (see `Errc`), lock_lost, message_not_found (one of them),
    /// message_too_large (together they are more than the broker puts into one answer: `sessionqd`
    /// 2 MiB, but any single message), not_supported.
    [[nodiscard]] std::vector<SessionMessage> receive_deferred(
        std::vector<std::int64_t> sequence_numbers, const CallOptions& call = {});

    // The same for programs that take errors as values. `Result` says what holds for all.

    /// Returns the session's state, or an empty optional if there is none. Does what `state` does,
    /// and returns the failure instead of throwing it.
    Result<std::optional<std::string>> try_state(const CallOptions& call = {}) noexcept;

    /// Replaces the session's state. An unset or empty `state` clears it. Does what `set_state`
    /// does, and returns the failure instead of throwing it.
    Result<void> try_set_state(std::optional<std::string> state,
                               const CallOptions& call = {}) noexcept;

    /// Returns deferred messages of this session, all or none. Settle them before the handler
    /// returns. Does what `receive_deferred` does, and returns the failure instead of throwing it.
    Result<std::vector<SessionMessage>> try_receive_deferred(
        std::vector<std::int64_t> sequence_numbers, const CallOptions& call = {}) noexcept;

private:
    friend struct detail::client::Access;

    explicit SessionContext(detail::processor::HandledSession& session) noexcept
        : session_{&session} {}

    detail::processor::HandledSession* session_;
};

} // namespace sessionq::inline v1
