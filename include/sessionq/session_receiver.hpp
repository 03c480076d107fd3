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
#include <sessionq/result.hpp>
#include <sessionq/session_message.hpp>

namespace sessionq::detail::client {
class HeldSession;
struct Access;
} // namespace sessionq::detail::client

namespace sessionq::detail {
struct GiveTheReceiverAName;
} // namespace sessionq::detail

namespace sessionq::inline v1 {

/// How a `SessionReceiver` holds its session. An aggregate for designated initialisers. A bad value
/// throws `Error{Errc::invalid_option}` naming the member.
///
/// Example:
///
///     SessionReceiver ada = SessionReceiver::accept(
///         client, "orders", "ada", {.max_lock_renewal = std::chrono::minutes{10}});
struct SessionReceiverOptions {
    /// True: the broker removes messages when it delivers them, and they need no settling. Messages
    /// in transit are lost when the session is given back, or when its lock or connection is lost.
    /// Default false.
    bool receive_and_delete{false};

    /// True: the receive thread renews the lock, even if the application's threads are busy. False:
    /// only `renew_lock` renews it. Default true.
    bool auto_renew{true};

    /// How long the lock is renewed while the application has received messages and settles none.
    /// After that time the lock is not renewed, and the stop token fires before the lock expires.
    /// Each settled message starts the time anew. Without unsettled messages, the lock is renewed
    /// as long as the receiver is open. No effect with `receive_and_delete`, because nothing is
    /// settled. Range: zero or more. Zero: no limit. Default 0.
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
/// Blocking: functions wait for the broker's answer until the deadline of the call (`CallOptions`).
/// They end with `cancelled` when a stop token of the call fires. If an accept gives up and its
/// session arrives later, the session is given back at once.
///
/// Loss: when the receiver no longer holds the session, every function that asks the broker, except
/// `close`, fails with the reason. `loss` returns the reason: lock_lost, connection_lost,
/// entity_not_found, entity_disabled, unauthorized (the right to the entity was withdrawn), or
/// cancelled (this side closed the receiver).
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
    /// Errors: the broker's (see `Errc`), invalid_option (names the member),
    /// session_locked_elsewhere (another receiver holds the session), session_not_found,
    /// no_session_available (the broker gave up waiting). In particular invalid_argument (`entity`
    /// must have 1 to 260 characters, `session_id` must be UTF-8 of up to 128 characters) and
    /// session_required (the entity has no sessions).
    [[nodiscard]] static SessionReceiver accept(const Client& client, const std::string& entity,
                                                const std::string& session_id,
                                                SessionReceiverOptions options = {},
                                                const CallOptions& call = {});

    /// Waits until the deadline for a session that has messages and is not locked, and locks it.
    /// Errors: the broker's (see `Errc`) except timeout, no_session_available (none came until the
    /// deadline), invalid_option (names the member). In particular invalid_argument (`entity` must
    /// have 1 to 260 characters) and session_required (the entity has no sessions).
    [[nodiscard]] static SessionReceiver accept_next(const Client& client,
                                                     const std::string& entity,
                                                     SessionReceiverOptions options = {},
                                                     const CallOptions& call = {});

    /// Waits for a session that has messages and is not locked, and locks it. Returns nothing if
    /// none comes within `wait`, or until the deadline if that is sooner.
    /// `wait`: range zero or more. Zero: only a session that is ready now. Default 0.
    /// Errors: the broker's (see `Errc`), invalid_option (names the member). In particular timeout
    /// (`wait` ended before the deadline, and the broker did not answer until the deadline),
    /// invalid_argument (`entity` must have 1 to 260 characters, `wait` must be zero or more) and
    /// session_required (the entity has no sessions).
    [[nodiscard]] static std::optional<SessionReceiver> accept_next_if_any(
        const Client& client, const std::string& entity, Timeout wait = Duration::zero(),
        SessionReceiverOptions options = {}, const CallOptions& call = {});

    SessionReceiver(SessionReceiver&& other) noexcept;
    SessionReceiver& operator=(SessionReceiver&& other) noexcept;

    /// Gives the session back in the background and does not wait. Unsettled messages return to the
    /// broker.
    ~SessionReceiver();

    /// The id of the session as the broker named it. Azure Service Bus may change the case of
    /// letters.
    [[nodiscard]] const std::string& session_id() const;
    [[nodiscard]] const std::string& entity() const;

    /// When the lock expires unless it is renewed, on the monotonic clock. never() if the broker's
    /// locks have no time limit. The length of the lock counts from the request for it, so the lock
    /// never seems longer than it is. After an accept that had to wait, it counts from a little
    /// before the answer, because the answer also took time to arrive.
    [[nodiscard]] Deadline lock_expires() const;

    /// Fires shortly before the lock expires, when it is lost, and when the receiver is closed. Its
    /// callbacks run one after another on a thread that the client keeps for them.
    [[nodiscard]] std::stop_token stop_token() const;

    /// Why the receiver no longer holds the session. Nothing while it holds the session.
    [[nodiscard]] std::optional<Failure> loss() const;

    /// Returns the next messages, at most `max_messages`, as soon as there is one. Returns none
    /// after `wait`, or at the deadline if that is sooner. If messages come after a call gave up,
    /// the next call gets them.
    ///
    /// `max_messages`: range 1 to 10,000. `wait`: range zero or more. Zero: return the messages
    /// that the broker has now. Duration::max(), the default: wait until the deadline.
    ///
    /// Errors: invalid_argument (a value is out of range), invalid_state (called on a receive
    /// thread), cancelled (a stop token fired, or the receiver was closed); if the session is lost:
    /// lock_lost, connection_lost, entity_not_found, entity_disabled, unauthorized.
    [[nodiscard]] std::vector<SessionMessage> receive(std::size_t max_messages,
                                                      Timeout wait = Duration::max(),
                                                      const CallOptions& call = {}) &;
    /// Does not compile for a temporary receiver. It would end with the statement, and so would the
    /// lock of its messages. Give the receiver a name.
    detail::GiveTheReceiverAName receive(std::size_t, Timeout = {},
                                         const CallOptions& = {}) && = delete;

    /// Returns the next message as soon as there is one. Returns nothing after `wait`, or at the
    /// deadline if that is sooner.
    /// `wait`: range zero or more. Zero: only a message that the broker has now. Duration::max(),
    /// the default: wait until the deadline.
    /// Errors: invalid_argument (`wait` is negative), invalid_state (called on a receive thread),
    /// cancelled (a stop token fired, or the receiver was closed); if the session is lost:
    /// lock_lost, connection_lost, entity_not_found, entity_disabled, unauthorized.
    [[nodiscard]] std::optional<SessionMessage> receive_one(Timeout wait = Duration::max(),
                                                            const CallOptions& call = {});

    /// Returns the deferred messages of this session with these sequence numbers, in the order of
    /// the numbers, all or none. Without numbers it returns none.
    /// Errors: the broker's (see `Errc`; also if the receiver is lost or closed), lock_lost,
    /// message_not_found (there is no such message for one of the numbers), message_too_large (the
    /// messages together are more than the broker puts into one answer; `sessionqd` puts up to 2
    /// MiB into one, and any single message).
    [[nodiscard]] std::vector<SessionMessage> receive_deferred(
        std::vector<std::int64_t> sequence_numbers, const CallOptions& call = {}) &;
    /// Does not compile for a temporary receiver, because its messages would lose their lock at the
    /// end of the statement. Give the receiver a name.
    detail::GiveTheReceiverAName receive_deferred(std::vector<std::int64_t>,
                                                  const CallOptions& = {}) && = delete;

    /// Returns the session's state: the bytes that the broker keeps for it. Nothing if there is no
    /// state.
    /// Errors: the broker's (see `Errc`; also if the receiver is lost or closed), lock_lost,
    /// session_not_found, message_too_large.
    [[nodiscard]] std::optional<std::string> state(const CallOptions& call = {});

    /// Replaces the session's state. An unset or empty `state` clears it.
    /// Errors: the broker's (see `Errc`; also if the receiver is lost or closed), lock_lost,
    /// session_not_found, message_too_large.
    void set_state(std::optional<std::string> state, const CallOptions& call = {});

    /// Renews the lock now, and returns when it expires. Needed only if
    /// `SessionReceiverOptions::auto_renew` is false.
    /// Errors: the broker's (see `Errc`; also if the receiver is lost or closed), lock_lost,
    /// session_not_found.
    Deadline renew_lock(const CallOptions& call = {});

    /// Gives the session back. It stops the flow of messages, and then returns unsettled messages
    /// to the broker. Their deliveries do not count. With `receive_and_delete`, messages in transit
    /// are lost. If the broker does not answer, closing ends after 5 s. If the call ends before
    /// that, closing continues in the background. Returns at once if the session is closed or lost.
    /// Errors: invalid_state (called on a receive thread), timeout, cancelled.
    void close(const CallOptions& call = {});

    // The same for programs that take errors as values. `Result` says what holds for all.

    /// Locks the named session, whether it has messages or not. Does what `accept` does, and
    /// returns the failure instead of throwing it.
    static Result<SessionReceiver> try_accept(const Client& client, const std::string& entity,
                                              const std::string& session_id,
                                              SessionReceiverOptions options = {},
                                              const CallOptions& call = {}) noexcept;

    /// Waits for a session that has messages and is not locked, and locks it. Returns nothing if
    /// none comes within `wait`, or until the deadline if that is sooner: a result that holds an
    /// empty optional. `wait`: range zero or more. Zero: only a session that is ready now.
    /// Duration::max(), the default: wait until the deadline. Does what `accept_next_if_any` does,
    /// and returns the failure instead of throwing it.
    static Result<std::optional<SessionReceiver>> try_accept_next(
        const Client& client, const std::string& entity, Timeout wait = Duration::max(),
        SessionReceiverOptions options = {}, const CallOptions& call = {}) noexcept;

    /// Returns the next messages, at most `max_messages`, as soon as there is one. Returns none
    /// after `wait`, or at the deadline if that is sooner. Does what `receive` does, and returns
    /// the failure instead of throwing it.
    Result<std::vector<SessionMessage>> try_receive(std::size_t max_messages,
                                                    Timeout wait = Duration::max(),
                                                    const CallOptions& call = {}) & noexcept;

    /// Returns the next message as soon as there is one. Returns nothing after `wait`, or at the
    /// deadline if that is sooner: a result that holds an empty optional. Does what `receive_one`
    /// does, and returns the failure instead of throwing it.
    Result<std::optional<SessionMessage>> try_receive_one(Timeout wait = Duration::max(),
                                                          const CallOptions& call = {}) noexcept;

    /// Returns the deferred messages of this session with these sequence numbers, all or none. Does
    /// what `receive_deferred` does, and returns the failure instead of throwing it.
    Result<std::vector<SessionMessage>> try_receive_deferred(
        std::vector<std::int64_t> sequence_numbers, const CallOptions& call = {}) & noexcept;

    /// Returns the session's state, or an empty optional if there is none. Does what `state` does,
    /// and returns the failure instead of throwing it.
    Result<std::optional<std::string>> try_state(const CallOptions& call = {}) noexcept;

    /// Replaces the session's state. An unset or empty `state` clears it. Does what `set_state`
    /// does, and returns the failure instead of throwing it.
    Result<void> try_set_state(std::optional<std::string> state,
                               const CallOptions& call = {}) noexcept;

    /// Renews the lock now, and returns when it expires. Does what `renew_lock` does, and returns
    /// the failure instead of throwing it.
    Result<Deadline> try_renew_lock(const CallOptions& call = {}) noexcept;

    /// Gives the session back and waits for that. Does what `close` does, and returns the failure
    /// instead of throwing it.
    Result<void> try_close(const CallOptions& call = {}) noexcept;

private:
    friend struct detail::client::Access;

    explicit SessionReceiver(std::shared_ptr<detail::client::HeldSession> session) noexcept;

    std::shared_ptr<detail::client::HeldSession> session_;
};

} // namespace sessionq::inline v1
