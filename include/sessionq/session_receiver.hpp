#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <sessionq/client.hpp>
#include <sessionq/error.hpp>
#include <sessionq/operation_context.hpp>
#include <sessionq/session_message.hpp>

namespace sessionq {

namespace client {
class ReceiverGrip;
}

/// How a `SessionReceiver` holds its session. An aggregate for designated initialisers; a bad value
/// throws `Error{Errc::invalid_option}` naming the member.
struct SessionReceiverOptions {
    /// True: messages are removed when delivered and need no settling; those on their way when the
    /// session is given back or its lease or connection is lost are gone. Default false.
    bool receive_and_delete{false};

    /// True: the lease is renewed on the receive thread, whatever the application's threads are
    /// doing (R11). False: only by `renew_lock`. Default true.
    bool renew_lock{true};

    /// The lease is renewed as long as the receiver is open, but no longer than this while messages
    /// have been received and none is settled; then the stop token fires before the lock dies
    /// (R13). What `ProcessorOptions::max_lock_renewal` is, with settling in place of handlers that
    /// finish. Zero: no bound. Range: zero or more. Without effect with `receive_and_delete`, where
    /// nothing is settled. Default 0.
    Duration max_lock_renewal{};

    /// Higher is served first where several wait for a session, if the broker has priorities.
    /// Default 0.
    int priority{0};
};

/// Holds one session and pulls its messages, in order. Move-only; closing it gives the session
/// back. Keeps its client alive.
///
/// Calls block until they have their answer, at most until the deadline in scope or, without one,
/// for `ClientOptions::operation_timeout`. They honour the context's stop token (cancelled). An
/// accept that is given up is finished in the background: a session that arrives late is given back
/// at once (R19).
///
/// Once the session is held no more every call but `close` fails with the reason, which `loss`
/// tells: lock_lost, connection_lost, entity_not_found, entity_disabled, unauthorized (the right to
/// the entity was taken away), or cancelled (closed by this side).
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: safe, except for moving and destroying. Calls of `receive` at the same time are
/// served in turn.
class SessionReceiver {
public:
    /// Takes the named session, of up to 128 characters, whether it has messages or not.
    /// Errors: the broker's (see `Errc`), invalid_option, session_locked_elsewhere (somebody holds
    /// it), session_not_found, no_session_available (the broker's answer to a wait that is over).
    /// invalid_argument: `entity` has 1 to 260 characters. session_required: the entity has no
    /// sessions.
    [[nodiscard]] static SessionReceiver accept(
        const Client& client, const std::string& entity, const std::string& session_id,
        SessionReceiverOptions options = {},
        const OperationContext& context = OperationContext::current());

    /// Takes whichever session has messages and no holder; waits for one.
    /// Errors: as for `accept`; no_session_available (none within the time) instead of timeout,
    /// session_locked_elsewhere and session_not_found.
    [[nodiscard]] static SessionReceiver accept_next(
        const Client& client, const std::string& entity, SessionReceiverOptions options = {},
        const OperationContext& context = OperationContext::current());

    /// The same, but answers with nothing instead of `no_session_available`, after `wait` and no
    /// later than the deadline. `wait` zero: takes what is there now. Not negative
    /// (invalid_argument).
    [[nodiscard]] static std::optional<SessionReceiver> try_accept_next(
        const Client& client, const std::string& entity, Duration wait = Duration::zero(),
        SessionReceiverOptions options = {},
        const OperationContext& context = OperationContext::current());

    SessionReceiver(SessionReceiver&& other) noexcept;
    SessionReceiver& operator=(SessionReceiver&& other) noexcept;

    /// Has the session given back in the background, as `close` does; does not wait.
    ~SessionReceiver();

    [[nodiscard]] const std::string& session_id() const noexcept;
    [[nodiscard]] const std::string& entity() const noexcept;

    /// When the lease ends unless it is renewed; never() where the broker sets no time. On the
    /// monotonic clock, counted from the instant it was asked for; after an accept that had to
    /// wait, from the answer less what that may have travelled (R12).
    [[nodiscard]] Deadline lock_expires() const noexcept;

    /// Fires a moment before the lease ends (R13), when it is lost, and when the receiver is
    /// closed. Callbacks registered with it run on a thread that the client keeps for these alone;
    /// while one runs, others wait.
    [[nodiscard]] std::stop_token stop_token() const noexcept;

    /// Why the session is held no more; nothing while it is held.
    [[nodiscard]] std::optional<Failure> loss() const;

    /// The next messages, as soon as there is one, at most `max_messages` (1 to 10,000;
    /// invalid_argument). Nothing after `wait`, or at the deadline if that is sooner. `wait` zero:
    /// asks the broker, and returns what it has now. Duration::max(): until the deadline. Not
    /// negative (invalid_argument). What comes after a call gave up is kept for the next one.
    /// Errors: invalid_argument, invalid_state (on a receive thread), cancelled, and the reasons of
    /// a loss.
    [[nodiscard]] std::vector<SessionMessage> receive(
        std::size_t max_messages, Duration wait = Duration::max(),
        const OperationContext& context = OperationContext::current());

    /// The next message; otherwise like `receive`.
    [[nodiscard]] std::optional<SessionMessage> receive_one(
        Duration wait = Duration::max(),
        const OperationContext& context = OperationContext::current());

    /// Deferred messages of this session, in the order asked for, all or none. None asked for:
    /// none. Errors: the broker's (see `Errc`), message_not_found (any of them), and the reasons of
    /// a loss.
    [[nodiscard]] std::vector<SessionMessage> receive_deferred(
        std::vector<std::int64_t> sequence_numbers,
        const OperationContext& context = OperationContext::current());

    /// The bytes kept with the session at the broker, if any.
    /// Errors of this and `set_state`: the broker's (see `Errc`), session_not_found,
    /// message_too_large, and the reasons of a loss.
    [[nodiscard]] std::optional<std::string> state(
        const OperationContext& context = OperationContext::current());

    /// Replaces the state; no value clears it.
    void set_state(std::optional<std::string> state,
                   const OperationContext& context = OperationContext::current());

    /// Renews the lease now; returns when it ends. Needed only without
    /// `SessionReceiverOptions::renew_lock`. Errors: the broker's (see `Errc`), session_not_found,
    /// and the reasons of a loss.
    Deadline renew_lock(const OperationContext& context = OperationContext::current());

    /// Gives the session back, losing nothing (R3): takes credit back, then returns what was not
    /// settled, uncounted. Bounded, also if the broker does not answer; it goes on in the
    /// background when this call gives up. Closed or lost already: returns at once. Errors:
    /// invalid_state (on a receive thread), timeout, cancelled.
    void close(const OperationContext& context = OperationContext::current());

    /// For sessionq's own parts.
    explicit SessionReceiver(std::shared_ptr<client::ReceiverGrip> grip) noexcept;
    [[nodiscard]] const std::shared_ptr<client::ReceiverGrip>& grip() const noexcept {
        return grip_;
    }

private:
    std::shared_ptr<client::ReceiverGrip> grip_;
};

} // namespace sessionq
