// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ports/endpoint.hpp"
#include "servicebus/request.hpp"

namespace sessionq::detail::servicebus {

// Requests about the rules of a subscription, and the answers to them. Pure.

/// The operation and its body.
[[nodiscard]] std::pair<std::string, amqp::Map> rules_request(const ports::RulesTask& task);

/// `task` was asked for of `entity`.
[[nodiscard]] core::Result<std::vector<Rule>> read_rules(const Response& response,
                                                         const ports::RulesTask& task,
                                                         const std::string& entity);

} // namespace sessionq::detail::servicebus
