#pragma once

#include <string>

#include <sessionq/error.hpp>

#include "amqp/condition.hpp"

namespace sessionq::servicebus {

/// What a condition of Azure Service Bus means; `what` says in our words what it befell. An empty
/// condition is a detach without a reason: the link is lost.
[[nodiscard]] Failure to_failure(const amqp::Condition& condition, std::string what);

} // namespace sessionq::servicebus
