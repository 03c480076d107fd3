// SPDX-License-Identifier: MIT
#pragma once

#include <sessionq/rule.hpp>

#include "amqp/codec/value.hpp"
#include "core/result.hpp"

namespace sessionq::amqp {

// Rules as `$management` has them: a client adds one as a map, and lists them as described lists.

/// Writes the body of an add-rule request. A filter that selects every message or none is an SQL
/// filter on the wire.
[[nodiscard]] Map write_rule(const Rule& rule);

/// Reads the body of an add-rule request. Fails with invalid_argument and names the key that is
/// missing or has the wrong type.
[[nodiscard]] core::Result<Rule> read_rule(const Value& body);

/// Writes a rule as clients read it: filter, action and name, each as a described list.
[[nodiscard]] Value describe_rule(const Rule& rule);

/// Reads a rule as brokers list it. Fails with protocol_error.
[[nodiscard]] core::Result<Rule> read_described_rule(const Value& described);

} // namespace sessionq::amqp
