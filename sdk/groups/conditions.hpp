#pragma once

#include <string>

#include <sessionq/error.hpp>

#include "amqp/condition.hpp"

namespace sessionq::groups {

/// What a condition of the AMQP standard means; `what` says in our words what it befell. An empty
/// condition is an end without a reason: connection_lost. What this side found itself is said in
/// our words too.
[[nodiscard]] Failure to_failure(const amqp::Condition& condition, std::string what);

} // namespace sessionq::groups
