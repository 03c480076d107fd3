#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <sessionq/session_receiver.hpp>

#include "client/public_call.hpp"
#include "core/access.hpp"

namespace sessionq::client {

// The functions of `SessionReceiver` and `SessionMessage`, for the blocking functions and their
// awaitable twins. Each checks its arguments and throws.

/// Parameters of an accept.
struct AcceptTerms {
    std::string entity{};
    std::optional<std::string> session_id{};
    std::optional<Duration> wait{}; ///< for the next session; unset: until the deadline
    SessionReceiverOptions options{};
};

[[nodiscard]] Operation<HeldSessionPtr> accept_operation(const std::shared_ptr<ClientCore>& client,
                                                         AcceptTerms terms,
                                                         const OperationContext& context);

/// `R` is a `SessionReceiver`, or an optional one that is unset if there is no session.
template <typename R>
[[nodiscard]] PublicCall<HeldSessionPtr, R> accept_session(const Client& client, AcceptTerms terms,
                                                           const OperationContext& context) {
    return {accept_operation(Access::core(client), std::move(terms), context),
            [core = Access::core(client)](core::Result<HeldSessionPtr> answer) -> R {
                if constexpr (std::is_default_constructible_v<R>) {
                    if (!answer && answer.failure().code == Errc::no_session_available) {
                        return {};
                    }
                }
                HeldSessionPtr session = std::move(answer).take_or_throw();
                session->keep(core);
                return Access::make<SessionReceiver>(std::move(session));
            }};
}

/// Calls `method` of the receiver while it is open. Refers to no client on the loop.
template <typename T, typename... Args>
[[nodiscard]] Operation<T> on_session(const HeldSession& session, const OperationContext& context,
                                      void (SessionReceiverCore::*method)(const PendingPtr<T>&,
                                                                          Args...),
                                      std::type_identity_t<Args>... args) {
    return make_operation<T>(session.client(), session.status()->loop(), context,
                             [status = session.status(), method,
                              ... args = std::move(args)](const PendingPtr<T>& pending) mutable {
                                 SessionReceiverCore* receiver = status->receiver();
                                 if (receiver != nullptr && receiver->is_open()) {
                                     (receiver->*method)(pending, std::move(args)...);
                                 } else {
                                     pending->complete(
                                         status->loss().value_or(Failure{.code = Errc::lock_lost}));
                                 }
                             });
}

/// The receiver's session. Throws if its broker lacks the capability.
[[nodiscard]] inline const HeldSession& session_with(ports::Capability capability,
                                                     const SessionReceiver& receiver) {
    const HeldSession& session = *Access::session(receiver);
    session.client()->capabilities().require(capability);
    return session;
}

[[nodiscard]] Operation<Deliveries> receive_operation(const HeldSession& session,
                                                      std::size_t max_messages, Duration wait,
                                                      const OperationContext& context);

/// Wraps deliveries for the application.
[[nodiscard]] std::vector<SessionMessage> to_messages(const HeldSessionPtr& session,
                                                      core::Result<Deliveries> answer);

[[nodiscard]] inline auto receive(const SessionReceiver& receiver, std::size_t max_messages,
                                  Duration wait, const OperationContext& context) {
    const HeldSessionPtr& session = Access::session(receiver);
    return PublicCall<Deliveries, std::vector<SessionMessage>>{
        receive_operation(*session, max_messages, wait, context),
        std::bind_front(to_messages, session)};
}

[[nodiscard]] inline auto receive_one(const SessionReceiver& receiver, Duration wait,
                                      const OperationContext& context) {
    const HeldSessionPtr& session = Access::session(receiver);
    return PublicCall<Deliveries, std::optional<SessionMessage>>{
        receive_operation(*session, 1, wait, context), [session](core::Result<Deliveries> answer) {
            auto messages = to_messages(session, std::move(answer));
            return messages.empty() ? std::nullopt : std::optional{std::move(messages.front())};
        }};
}

[[nodiscard]] inline auto receive_deferred(const SessionReceiver& receiver,
                                           std::vector<std::int64_t> sequence_numbers,
                                           const OperationContext& context) {
    return PublicCall<Deliveries, std::vector<SessionMessage>>{
        on_session(session_with(ports::Capability::defer, receiver), context,
                   &SessionReceiverCore::receive_deferred, std::move(sequence_numbers)),
        std::bind_front(to_messages, Access::session(receiver))};
}

[[nodiscard]] inline auto get_state(const SessionReceiver& receiver,
                                    const OperationContext& context) {
    return on_session(session_with(ports::Capability::session_state, receiver), context,
                      &SessionReceiverCore::get_state);
}

[[nodiscard]] inline auto set_state(const SessionReceiver& receiver,
                                    std::optional<std::string> state,
                                    const OperationContext& context) {
    return on_session(session_with(ports::Capability::session_state, receiver), context,
                      &SessionReceiverCore::set_state, std::move(state));
}

[[nodiscard]] inline auto renew_lock(const SessionReceiver& receiver,
                                     const OperationContext& context) {
    return on_session(session_with(ports::Capability::lock_renewal, receiver), context,
                      &SessionReceiverCore::renew_lock);
}

[[nodiscard]] Operation<core::Done> close(const SessionReceiver& receiver,
                                          const OperationContext& context);

/// Decides the message (R8). Throws `already_settled` or `lock_lost`. A second attempt throws.
[[nodiscard]] Operation<core::Done> settle(const SessionMessage& message, ports::Outcome outcome,
                                           const OperationContext& context,
                                           Properties properties_to_modify = {},
                                           DeadLetterInfo dead_letter = {});

} // namespace sessionq::client
