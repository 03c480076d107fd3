// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <sessionq/receiver.hpp>
#include <sessionq/session_receiver.hpp>

#include "client/calls/operation.hpp"
#include "client/entity_path.hpp"
#include "client/receiving/receive_span.hpp"
#include "client/receiving/session_receiver_core.hpp"
#include "client/receiving/session_status.hpp"
#include "core/access.hpp"

namespace sessionq::detail::client {

// These functions do the work of `SessionReceiver`, `Receiver` and `LockedMessage`. The blocking
// functions and their awaitable twins call them. Each function checks its arguments and throws if
// one is wrong. `R` is `SessionReceiver` or `Receiver`.

/// Parameters of an accept.
struct AcceptTerms {
    std::string entity{};
    std::optional<std::string> session_id{};
    std::optional<Duration> wait{}; ///< for any session; unset: until the deadline
    ReceiverSettings receiver{};
};

[[nodiscard]] inline ReceiveSpan begin_receive(const ClientCore& client, const CallOptions& call) {
    return {client.tracing(), trace_of(call.context)};
}

[[nodiscard]] Operation<HeldSessionPtr> accept_operation(const std::shared_ptr<ClientCore>& client,
                                                         AcceptTerms terms,
                                                         const CallOptions& call);

/// Accepts a session and makes an `R` that holds it. `R` may also be
/// `std::optional<SessionReceiver>`, which is unset if there is no session.
template <typename R>
[[nodiscard]] PublicCall<HeldSessionPtr, R> accept_session(const Client& client, AcceptTerms terms,
                                                           const CallOptions& call) {
    const bool is_session = terms.receiver.scope == ports::Scope::session;
    return {accept_operation(Access::core(client), std::move(terms), call),
            [core = Access::core(client), is_session,
             span = begin_receive(*Access::core(client), call)](
                core::Result<HeldSessionPtr> answer) -> R {
                if constexpr (std::is_default_constructible_v<R>) {
                    if (!answer && answer.failure().code == Errc::no_session_available) {
                        return {};
                    }
                }
                HeldSessionPtr session = std::move(answer).take_or_throw();
                session->keep(core);
                if (is_session) {
                    span.came(session->place());
                }
                if constexpr (std::is_same_v<R, Receiver>) {
                    return Access::make<Receiver>(std::move(session));
                } else {
                    return Access::make<SessionReceiver>(std::move(session));
                }
            }};
}

/// Opens a receiver of an entity without sessions.
[[nodiscard]] inline PublicCall<HeldSessionPtr, Receiver> open_receiver(
    const Client& client, const std::string& entity, const ReceiverOptions& options,
    const CallOptions& call) {
    const ports::Capabilities& broker = Access::core(client)->capabilities();
    return accept_session<Receiver>(client,
                                    {.entity = entity_path(broker, entity, options.sub_queue),
                                     .receiver = settings_of(options)},
                                    call);
}

/// Returns an operation that calls `method` of the receiver on its loop. If the receiver is not
/// open by then, the operation fails. Only the waiting caller keeps the client alive: what runs on
/// the loop must not hold it.
template <typename T, typename... Args>
[[nodiscard]] Operation<T> on_session(const HeldSession& session, const CallOptions& call,
                                      void (SessionReceiverCore::*method)(const PendingPtr<T>&,
                                                                          Args...),
                                      std::type_identity_t<Args>... args) {
    auto operation = make_operation<T>(
        session.client(), session.status()->loop(), call,
        [status = session.status(), method,
         ... args = std::move(args)](const PendingPtr<T>& pending) mutable {
            SessionReceiverCore* receiver = status->receiver();
            if (receiver != nullptr && receiver->is_open()) {
                (receiver->*method)(pending, std::move(args)...);
            } else {
                pending->complete(status->loss().value_or(Failure{.code = Errc::lock_lost}));
            }
        });
    // If the session was lost, the answer is the loss, even if the deadline has passed since.
    operation.unstarted = [status = session.status()](Failure why) -> core::Result<T> {
        return status->loss().value_or(std::move(why));
    };
    return operation;
}

/// Returns the receiver's session. Throws not_supported if the broker lacks the capability.
template <typename R>
[[nodiscard]] const HeldSession& session_with(ports::Capability capability, const R& receiver) {
    const HeldSession& session = *Access::session(receiver);
    session.client()->capabilities().require(capability);
    return session;
}

[[nodiscard]] Operation<Deliveries> receive_operation(const HeldSession& session,
                                                      std::size_t max_messages, Duration wait,
                                                      const CallOptions& call);

/// Makes the messages that the application gets from deliveries. Throws if the answer is a failure.
[[nodiscard]] std::vector<LockedMessage> to_messages(const std::shared_ptr<MessageHolder>& holder,
                                                     core::Result<Deliveries> answer);

/// Makes the messages of a receiver from deliveries, and makes the span of the receive call. Throws
/// if the answer is a failure.
[[nodiscard]] std::vector<LockedMessage> to_received(const HeldSessionPtr& session,
                                                     const ReceiveSpan& span,
                                                     core::Result<Deliveries> answer);

template <typename R>
[[nodiscard]] auto receive(const R& receiver, std::size_t max_messages, Duration wait,
                           const CallOptions& call) {
    const HeldSessionPtr& session = Access::session(receiver);
    return PublicCall<Deliveries, std::vector<LockedMessage>>{
        receive_operation(*session, max_messages, wait, call),
        std::bind_front(to_received, session, begin_receive(*session->client(), call))};
}

template <typename R>
[[nodiscard]] auto receive_one(const R& receiver, Duration wait, const CallOptions& call) {
    const HeldSessionPtr& session = Access::session(receiver);
    return PublicCall<Deliveries, std::optional<LockedMessage>>{
        receive_operation(*session, 1, wait, call),
        [session, span = begin_receive(*session->client(), call)](core::Result<Deliveries> answer) {
            auto messages = to_received(session, span, std::move(answer));
            return messages.empty() ? std::nullopt : std::optional{std::move(messages.front())};
        }};
}

template <typename R>
[[nodiscard]] auto receive_deferred(const R& receiver, std::vector<std::int64_t> sequence_numbers,
                                    const CallOptions& call) {
    return PublicCall<Deliveries, std::vector<LockedMessage>>{
        on_session(session_with(ports::Capability::defer, receiver), call,
                   &SessionReceiverCore::receive_deferred, std::move(sequence_numbers)),
        std::bind_front(to_received, Access::session(receiver),
                        begin_receive(*Access::session(receiver)->client(), call))};
}

[[nodiscard]] inline auto get_state(const SessionReceiver& receiver, const CallOptions& call) {
    return on_session(session_with(ports::Capability::session_state, receiver), call,
                      &SessionReceiverCore::get_state);
}

[[nodiscard]] inline auto set_state(const SessionReceiver& receiver,
                                    std::optional<std::string> state, const CallOptions& call) {
    return on_session(session_with(ports::Capability::session_state, receiver), call,
                      &SessionReceiverCore::set_state, std::move(state));
}

[[nodiscard]] inline auto renew_lock(const SessionReceiver& receiver, const CallOptions& call) {
    return on_session(session_with(ports::Capability::lock_renewal, receiver), call,
                      &SessionReceiverCore::renew_lock, nullptr);
}

/// Renews the message's own lock, or the lock of its session if the message has no lock of its own.
/// Throws `already_settled`, `lock_lost` or `not_supported`.
[[nodiscard]] Operation<Deadline> renew_lock(const LockedMessage& message, const CallOptions& call);

[[nodiscard]] Operation<core::Done> close_operation(const HeldSession& session,
                                                    const CallOptions& call);

template <typename R>
[[nodiscard]] Operation<core::Done> close(const R& receiver, const CallOptions& call) {
    return close_operation(*Access::session(receiver), call);
}

/// Settles the message (R8). Throws `already_settled` at a second attempt. Also throws `lock_lost`,
/// `not_supported`, and the errors of `ports::check_properties_to_modify`. The message stays
/// undecided if the operation ends before it begins.
[[nodiscard]] PublicCall<core::Done> settle(const LockedMessage& message, ports::Outcome outcome,
                                            const CallOptions& call,
                                            Properties properties_to_modify = {},
                                            DeadLetterInfo dead_letter = {});

/// The failure of each message that was not completed; unset: it was completed.
using CompleteFailures = std::vector<std::optional<Failure>>;

/// Completes messages of one receiver. It sends all settlements without waiting for answers in
/// between. It ends when all settlements are answered. The messages must live until then.
[[nodiscard]] PublicCall<CompleteFailures> complete_all(
    const std::vector<const LockedMessage*>& messages, const CallOptions& call);

} // namespace sessionq::detail::client
