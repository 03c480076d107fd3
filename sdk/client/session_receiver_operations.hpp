#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sessionq/session_receiver.hpp>

#include "client/operation.hpp"
#include "client/session_receiver_core.hpp"

namespace sessionq::client {

// The calls of `SessionReceiver` and `SessionMessage` as operations, for the blocking functions and their awaitable twins. Each throws what is
// wrong with its arguments.

using GripPtr = std::shared_ptr<ReceiverGrip>;

/// What an accept asks for.
struct AcceptTerms {
    std::string entity{};
    std::optional<std::string> session_id{};
    std::optional<Duration> wait{}; ///< unset, for the next session: until the deadline
    SessionReceiverOptions options{};
};

[[nodiscard]] Operation<ReceiverPtr> accept_operation(const std::shared_ptr<ClientCore>& client,
                                                      AcceptTerms terms,
                                                      const OperationContext& context);
[[nodiscard]] Operation<Deliveries> receive_operation(const GripPtr& grip, std::size_t max_messages,
                                                      Duration wait,
                                                      const OperationContext& context);
[[nodiscard]] Operation<Deliveries> receive_deferred_operation(
    const GripPtr& grip, std::vector<std::int64_t> sequence_numbers,
    const OperationContext& context);
[[nodiscard]] Operation<std::optional<std::string>> get_state_operation(
    const GripPtr& grip, const OperationContext& context);
[[nodiscard]] Operation<core::Done> set_state_operation(const GripPtr& grip,
                                                        std::optional<std::string> state,
                                                        const OperationContext& context);
[[nodiscard]] Operation<Deadline> renew_lock_operation(const GripPtr& grip,
                                                       const OperationContext& context);
[[nodiscard]] Operation<core::Done> close_operation(const GripPtr& grip,
                                                    const OperationContext& context);

/// Decides the message (R8): throws `already_settled` or `lock_lost`, and after it any other
/// attempt does.
[[nodiscard]] Operation<core::Done> settle_operation(const SessionMessage& message,
                                                     ports::Settlement settlement,
                                                     const OperationContext& context);

/// The received as the application gets it.
[[nodiscard]] std::vector<SessionMessage> to_messages(const GripPtr& grip, Deliveries deliveries);

} // namespace sessionq::client
