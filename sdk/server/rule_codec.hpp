#pragma once

#include <sessionq/rule.hpp>

#include "amqp/codec/value.hpp"
#include "core/result.hpp"

namespace sessionq::server {

/// Reads the body of an add-rule request. Fails with invalid_argument and names the key that is
/// missing or has the wrong type.
[[nodiscard]] core::Result<Rule> read_rule(const amqp::Value& body);

/// Writes a rule as clients read it: filter, action and name, each as a described list.
[[nodiscard]] amqp::Value describe_rule(const Rule& rule);

} // namespace sessionq::server
