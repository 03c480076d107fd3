// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

#include <sessionq/rule.hpp>

#include "amqp/codec/value.hpp"

namespace sessionq::server {

/// Converts a subscription's rules to their form in the store.
[[nodiscard]] amqp::Value to_stored(const std::vector<Rule>& rules);

/// Returns nothing if the value is not from `to_stored`.
[[nodiscard]] std::optional<std::vector<Rule>> read_stored(const amqp::Value& value);

} // namespace sessionq::server
