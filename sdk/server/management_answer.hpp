#pragma once

#include <string_view>

#include <sessionq/error.hpp>

#include "server/conditions.hpp"
#include "server/request.hpp"

namespace sessionq::server {

// The answers that the operations of `$management` have in common.

[[nodiscard]] Answer ok(amqp::Value body = amqp::Map{});
[[nodiscard]] Answer no_content();

[[nodiscard]] Answer refuse(std::int32_t status, std::string_view condition, std::string_view text);
[[nodiscard]] Answer refuse(const Failure& failure, LockKind lock = LockKind::message);

/// The request's body has no `key`, or has it of a type that is of no use.
[[nodiscard]] Answer lacks(std::string_view key);

/// The session that the request names is not held by this peer.
[[nodiscard]] Answer session_lock_lost();

/// The message whose token the request names is not held by this peer.
[[nodiscard]] Answer message_lock_lost();

} // namespace sessionq::server
