// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "amqp/codec/delivery_codec.hpp"
#include "amqp/engine/outcome.hpp"
#include "core/uuid.hpp"
#include "ports/delivery.hpp"
#include "servicebus/request.hpp"

namespace sessionq::detail::servicebus {

// The words of a session's link, in the terms of the protocol. Pure.

/// The outcome that settles a delivery on its link.
[[nodiscard]] amqp::Outcome to_outcome(const ports::Settlement& settlement);
/// The body of the request that settles a deferred message.
[[nodiscard]] amqp::Map to_disposition(const core::Uuid& lock_token,
                                       const ports::Settlement& settlement);

/// A failed settlement; none: it succeeded.
[[nodiscard]] std::optional<Failure> settlement_failure(const core::Result<Response>& answer);

/// The body of the request that renews the locks of messages.
[[nodiscard]] amqp::Map to_renewal(const std::vector<core::Uuid>& lock_tokens);
/// Fails with `protocol_error` unless there are `wanted` of them.
[[nodiscard]] core::Result<std::vector<WallTime>> read_expirations(const Response& response,
                                                                   std::size_t wanted);
[[nodiscard]] core::Result<WallTime> read_expiration(const Response& response);
[[nodiscard]] core::Result<core::Done> read_state_change(const Response& response);
[[nodiscard]] core::Result<std::optional<std::string>> read_state(const Response& response);

struct DeferredMessage {
    amqp::ReceivedDelivery received{};
    std::size_t bytes{0};
    core::Uuid lock_token{};
};
/// Fails with `message_not_found` unless there are `wanted` messages.
[[nodiscard]] core::Result<std::vector<DeferredMessage>> read_deferred(
    const Response& response, std::size_t wanted, const amqp::ClockReading& at);

} // namespace sessionq::detail::servicebus
