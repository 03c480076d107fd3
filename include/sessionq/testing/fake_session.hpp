// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <sessionq/deadline.hpp>
#include <sessionq/error.hpp>
#include <sessionq/failure_policy.hpp>
#include <sessionq/message.hpp>
#include <sessionq/session_context.hpp>
#include <sessionq/session_handler.hpp>
#include <sessionq/testing/settlement.hpp>

namespace sessionq::detail::client {
struct Access;
class TestSession;
} // namespace sessionq::detail::client

namespace sessionq::inline v1 {

namespace testing {

/// The session of a handler under test. An aggregate for designated initialisers.
struct FakeSessionOptions {
    /// The value of `SessionContext::session_id`. Default "session".
    std::string session_id{"session"};
    /// The value of `SessionContext::entity`. Default "queue".
    std::string entity{"queue"};

    /// The value of `SessionContext::lock_expires`. The lock does not end by itself, see
    /// `FakeSession::lose_lock`. Default: never.
    Deadline lock_expires{};

    std::optional<std::string> state{}; ///< The session's state. Default: none.

    /// True: messages need no settling, and settling them is already_settled. Requires
    /// `auto_complete`, and a failure policy that abandons. Default false.
    bool receive_and_delete{false};

    /// What a processor does when a handler returns without having settled its message. True: it
    /// completes the message. False: the handler has failed, and the failure policy applies.
    /// `FakeMessage::settlement` tells it. Default true.
    bool auto_complete{true};

    /// What a processor does when a handler throws or calls `MessageContext::fail`.
    /// `FakeMessage::settlement` tells it. A fake session waits for no delay of it. Default:
    /// abandon.
    FailurePolicy failure_policy{};
};

/// A session without a broker, for the unit test of a handler. Requests of the handler are answered
/// at once, without regard to their deadline, and never with not_supported.
///
/// Example: a handler of opened sessions.
///
///     const auto on_open = [](SessionContext& session) {
///         if (!session.state()) {
///             session.set_state("started");
///         }
///     };
///     testing::FakeSession session;
///     session.run(on_open);
///     if (session.state() != "started") {
///         std::abort();
///     }
///
/// Lifetimes: the context is valid while the session exists, or a `FakeMessage` of it.
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: safe, except for moving and destroying.
class FakeSession {
public:
    /// Makes a session that is locked.
    /// Errors: invalid_option (a processor would refuse `receive_and_delete`, `auto_complete` and
    /// `failure_policy` together, or one of them; names the member).
    explicit FakeSession(FakeSessionOptions options = {});
    ~FakeSession();
    FakeSession(FakeSession&&) noexcept;
    FakeSession& operator=(FakeSession&&) noexcept;

    /// The argument of handlers of `on_session_open` and `on_session_close`.
    [[nodiscard]] SessionContext& context();

    /// Calls a handler of `on_session_open` as a processor does, with the stop token in its ambient
    /// context. It waits until the handler has finished, and throws the exception with which it
    /// failed. A handler made by `coroutine` runs on this thread. An empty handler does nothing.
    void run(const SessionOpenHandler& handler);
    /// Calls a handler of `on_session_close` as a processor does, with the stop token in its
    /// ambient context. It waits until the handler has finished, and throws the exception with
    /// which it failed. A handler made by `coroutine` runs on this thread. An empty handler does
    /// nothing.
    void run(const SessionCloseHandler& handler, CloseReason reason);

    /// The session's state as it is now.
    [[nodiscard]] std::optional<std::string> state() const;
    /// Sets the state, as an earlier handler would have done.
    void set_state(std::optional<std::string> state);

    /// Whether the handler called `SessionContext::release`.
    [[nodiscard]] bool released() const;

    /// Adds a deferred message for `SessionContext::receive_deferred`, and returns its sequence
    /// number. A message without a session id gets this session's.
    /// Errors: invalid_argument (the message is of another session).
    std::int64_t add_deferred(Message message);

    /// How the handler settled the deferred message with this sequence number. Unset: it did not,
    /// or there is no such message.
    [[nodiscard]] std::optional<Settlement> settlement_of(std::int64_t sequence_number) const;

    /// Fires the stop token, on this thread.
    void request_stop();

    /// Ends the lock: fires the stop token, on this thread, and from now on settling and requests
    /// fail with lock_lost.
    void lose_lock();

    /// From now on requests of the handler fail with this error: its reads and writes of the state,
    /// `receive_deferred`, and the settlements of deferred messages. Unset: they succeed again.
    void fail_requests(std::optional<Errc> error);

private:
    friend struct detail::client::Access;

    std::shared_ptr<detail::client::TestSession> session_;
};

} // namespace testing
} // namespace sessionq::inline v1
