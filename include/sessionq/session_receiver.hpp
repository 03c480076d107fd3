// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <sessionq/call_options.hpp>
#include <sessionq/client.hpp>
#include <sessionq/error.hpp>
#include <sessionq/session_message.hpp>

namespace sessionq {

namespace client {
class HeldSession;
struct Access;
} // namespace client

/// How a `SessionReceiver` holds its session. An aggregate for designated initialisers. A bad value
/// throws `Error{Errc::invalid_option}` naming the member.
struct SessionReceiverOptions {
    /// True: the broker removes messages when it delivers them, and they need no settling. Messages
    /// in transit are lost when the session is given back, or when its lock or connection is lost.
    /// Default false.
    bool receive_and_delete{false};

    /// True: the receive thread renews the lock, even if the application's threads are busy. False:
    /// only `renew_lock` renews it. Default true.
    bool renew_lock{true};

    /// How long the lock is renewed while messages have been received and none is settled. Then the
    /// stop token fires before the lock expires. While messages are settled, renewal continues as
    /// long as the receiver is open. `ProcessorOptions` has the same member, for handlers that
    /// finish. No effect with `receive_and_delete`, where nothing is settled. Range: zero or more.
    /// Zero: no limit. Default 0.
    Duration max_lock_renewal{};

    /// If the broker has priorities, receivers with a higher one are served first. Default 0.
    int priority{0};
};

/// Holds one session and receives its messages, in order. Move-only.
///
/// Example:
///
///     SessionReceiver ada = SessionReceiver::accept(client, "orders", "ada");
///     while (auto message = ada.receive_one(std::chrono::seconds{1})) {
///         std::cout << message->text() << '\n';
///         message->complete();
///     }
///     ada.close();
///
/// Blocking: functions wait for their answer until the deadline of the call (`CallOptions`). They
/// end with `cancelled` when a stop token of the call fires. An accept that was given up finishes
/// in the background: a session that arrives late is given back at once.
///
/// Loss: when the session is no longer held, every function but `close` fails with the reason,
/// which `loss` returns: lock_lost, connection_lost, entity_not_found, entity_disabled,
/// unauthorized (the right to the entity was withdrawn), or cancelled (this side closed it).
///
/// Lifetimes: a receiver keeps its client alive. Closing or destroying it gives the session back.
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: safe, except for moving and destroying. Simultaneous calls of `receive` are
/// served in turn.
class SessionReceiver {
public:
    /// Locks the named session, whether it has messages or not.
    /// Errors: the broker's (see `Errc`), invalid_option, session_locked_elsewhere (another
    /// receiver holds it), session_not_found, no_session_available (the broker gave up waiting). In
    /// particular invalid_argument (`entity` must have 1 to 260 characters, `session_id` must be
    /// UTF-8 of up to 128) and session_required (the entity has no sessions).
    [[nodiscard]] static SessionReceiver accept(const Client& client, const std::string& entity,
                                                const std::string& session_id,
                                                SessionReceiverOptions options = {},
                                                const CallOptions& call = {});

    /// Waits for a session that has messages and is not locked, and locks it.
    /// Errors: as for `accept`, with no_session_available (none came in time) instead of timeout,
    /// session_locked_elsewhere and session_not_found.
    [[nodiscard]] static SessionReceiver accept_next(const Client& client,
                                                     const std::string& entity,
                                                     SessionReceiverOptions options = {},
                                                     const CallOptions& call = {});

    /// The same, but returns nothing instead of throwing `no_session_available`. It waits for
    /// `wait`, at most until the deadline. Range of `wait`: zero or more (invalid_argument). Zero:
    /// only a session that is ready now. Also timeout: `wait` is over, and the broker has not
    /// answered until the deadline.
    [[nodiscard]] static std::optional<SessionReceiver> try_accept_next(
        const Client& client, const std::string& entity, Duration wait = Duration::zero(),
        SessionReceiverOptions options = {}, const CallOptions& call = {});

    SessionReceiver(SessionReceiver&& other) noexcept;
    SessionReceiver& operator=(SessionReceiver&& other) noexcept;

    /// Gives the session back in the background, as `close` does. Does not wait.
    ~SessionReceiver();

    /// As the broker named the session: Azure Service Bus may do so in another case.
    [[nodiscard]] const std::string& session_id() const;
    [[nodiscard]] const std::string& entity() const;

    /// When the lock expires unless it is renewed. never() if the broker's locks have no time
    /// limit. On the monotonic clock, counted from the instant of the request. After an accept that
    /// had to wait, it counts from the answer, less the time that the answer may have travelled.
    [[nodiscard]] Deadline lock_expires() const;

    /// Fires shortly before the lock expires, when it is lost, and when the receiver is closed. Its
    /// callbacks run one after another on a thread that the client keeps for them.
    [[nodiscard]] std::stop_token stop_token() const;

    /// Why the session is no longer held. Nothing while it is held.
    [[nodiscard]] std::optional<Failure> loss() const;

    /// Returns the next messages, at most `max_messages`, as soon as there is one. Returns none
    /// after `wait`, or at the deadline if that is sooner. Messages that come after a call gave up
    /// are kept for the next call.
    ///
    /// `max_messages`: range 1 to 10,000. `wait`: range zero or more. Zero: return the messages
    /// that the broker has now. Duration::max(): wait until the deadline.
    ///
    /// Errors: invalid_argument, invalid_state (on a receive thread), cancelled, and the reasons of
    /// a loss.
    [[nodiscard]] std::vector<SessionMessage> receive(std::size_t max_messages,
                                                      Duration wait = Duration::max(),
                                                      const CallOptions& call = {}) &;
    /// A receiver without a name ends with the statement, and its messages are locked no more.
    std::vector<SessionMessage> receive(std::size_t, Duration = {},
                                        const CallOptions& = {}) && = delete;

    /// Returns the next message. Otherwise as `receive`.
    [[nodiscard]] std::optional<SessionMessage> receive_one(Duration wait = Duration::max(),
                                                            const CallOptions& call = {});

    /// Returns deferred messages of this session, in the order of the numbers, all or none. Without
    /// numbers it returns none.
    /// Errors: the broker's (see `Errc`), message_not_found (one of them), message_too_large
    /// (together they are more than the broker puts into one answer: `sessionqd` 2 MiB, but any
    /// single message), and the reasons of a loss.
    [[nodiscard]] std::vector<SessionMessage> receive_deferred(
        std::vector<std::int64_t> sequence_numbers, const CallOptions& call = {}) &;
    /// As with `receive`: give the receiver a name.
    std::vector<SessionMessage> receive_deferred(std::vector<std::int64_t>,
                                                 const CallOptions& = {}) && = delete;

    /// Returns the session's state: the bytes that the broker keeps for it, if any.
    /// Errors of this and `set_state`: the broker's (see `Errc`), session_not_found,
    /// message_too_large, and the reasons of a loss.
    [[nodiscard]] std::optional<std::string> state(const CallOptions& call = {});

    /// Replaces the session's state. No value clears it, and so does an empty one.
    void set_state(std::optional<std::string> state, const CallOptions& call = {});

    /// Renews the lock now, and returns when it expires. Needed only without
    /// `SessionReceiverOptions::renew_lock`.
    /// Errors: the broker's (see `Errc`), session_not_found, and the reasons of a loss.
    Deadline renew_lock(const CallOptions& call = {});

    /// Gives the session back and loses nothing: it stops the flow of messages, then returns those
    /// that were not settled, uncounted. It is bounded, also if the broker does not answer. If this
    /// call gives up, closing continues in the background. Returns at once if the session is closed
    /// or lost.
    /// Errors: invalid_state (on a receive thread), timeout, cancelled.
    void close(const CallOptions& call = {});

private:
    friend struct client::Access;

    explicit SessionReceiver(std::shared_ptr<client::HeldSession> session) noexcept;

    std::shared_ptr<client::HeldSession> session_;
};

} // namespace sessionq
