#pragma once

#include <sessionq/rule.hpp>

#include "amqp/codec/value.hpp"
#include "core/result.hpp"

namespace sessionq::server {

/// The rule a client adds: the body of its request. Fails with invalid_argument, naming what is
/// missing or of another type.
[[nodiscard]] core::Result<Rule> read_rule(const amqp::Value& body);

/// A rule as clients read it: filter, action and name, each as a described list.
[[nodiscard]] amqp::Value describe_rule(const Rule& rule);

} // namespace sessionq::server
