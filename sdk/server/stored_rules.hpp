#pragma once

#include <optional>
#include <vector>

#include <sessionq/rule.hpp>

#include "amqp/codec/value.hpp"

namespace sessionq::server {

/// A subscription's rules as a store keeps them.
[[nodiscard]] amqp::Value to_stored(const std::vector<Rule>& rules);

/// Nothing: it is none of `to_stored`'s.
[[nodiscard]] std::optional<std::vector<Rule>> read_stored(const amqp::Value& value);

} // namespace sessionq::server
