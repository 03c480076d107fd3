// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <sessionq/error.hpp>

#include "amqp/condition.hpp"

namespace sessionq::detail::servicebus {

/// Maps a condition of Azure Service Bus to a failure. `what` names the operation. An empty
/// condition is a detach without a reason: the link is lost.
[[nodiscard]] Failure to_failure(const amqp::Condition& condition, std::string what);

/// The same of the end of a session's link. A condition that does not end the lock itself is a loss
/// of the connection.
[[nodiscard]] Failure to_loss(const amqp::Condition& condition, std::string what);

} // namespace sessionq::detail::servicebus
