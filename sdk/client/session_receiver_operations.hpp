#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sessionq/session_receiver.hpp>

#include "client/held_session.hpp"
#include "client/operation.hpp"

namespace sessionq::client {

// The functions of `SessionReceiver` and `SessionMessage` as operations, for the blocking functions
// and their awaitable twins. Each checks its arguments and throws.

/// Parameters of an accept.
struct AcceptTerms {
    std::string entity{};
    std::optional<std::string> session_id{};
    std::optional<Duration> wait{}; ///< for the next session; unset: until the deadline
    SessionReceiverOptions options{};
};

[[nodiscard]] Operation<AcceptedSession> accept_operation(const std::shared_ptr<ClientCore>& client,
                                                          AcceptTerms terms,
                                                          const OperationContext& context);
[[nodiscard]] Operation<Deliveries> receive_operation(const HeldSessionPtr& session,
                                                      std::size_t max_messages, Duration wait,
                                                      const OperationContext& context);
[[nodiscard]] Operation<Deliveries> receive_deferred_operation(
    const HeldSessionPtr& session, std::vector<std::int64_t> sequence_numbers,
    const OperationContext& context);
[[nodiscard]] Operation<std::optional<std::string>> get_state_operation(
    const HeldSessionPtr& session, const OperationContext& context);
[[nodiscard]] Operation<core::Done> set_state_operation(const HeldSessionPtr& session,
                                                        std::optional<std::string> state,
                                                        const OperationContext& context);
[[nodiscard]] Operation<Deadline> renew_lock_operation(const HeldSessionPtr& session,
                                                       const OperationContext& context);
[[nodiscard]] Operation<core::Done> close_operation(const HeldSessionPtr& session,
                                                    const OperationContext& context);

/// Decides the message (R8). Throws `already_settled` or `lock_lost`. A second attempt throws.
[[nodiscard]] Operation<core::Done> settle_operation(const SessionMessage& message,
                                                     ports::Settlement settlement,
                                                     const OperationContext& context);

/// Wraps deliveries for the application.
[[nodiscard]] std::vector<SessionMessage> to_messages(const HeldSessionPtr& session,
                                                      Deliveries deliveries);

} // namespace sessionq::client
