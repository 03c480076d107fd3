// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include <sessionq/error.hpp>

#include "server/conditions.hpp"
#include "server/request.hpp"

namespace sessionq::server {

// Answers that several `$management` operations share.

[[nodiscard]] Answer ok(amqp::Value body = amqp::Map{});
[[nodiscard]] Answer no_content();

[[nodiscard]] Answer refuse(std::int32_t status, std::string_view condition, std::string_view text);
[[nodiscard]] Answer refuse(const Failure& failure, LockKind lock = LockKind::message);

/// The request body lacks `key`, or its value has the wrong type.
[[nodiscard]] Answer lacks(std::string_view key);

/// This peer does not hold the session that the request names.
[[nodiscard]] Answer session_lock_lost();

/// This peer does not hold the message whose lock token the request names.
[[nodiscard]] Answer message_lock_lost();

} // namespace sessionq::server
