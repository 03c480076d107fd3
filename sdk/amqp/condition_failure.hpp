// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <sessionq/error.hpp>

#include "amqp/condition.hpp"

namespace sessionq::amqp {

using ConditionRow = std::pair<std::string_view, Errc>;

/// Maps a condition to a failure: by the dialect's own rows, else by those of the AMQP standard.
/// `what` names the operation. An empty condition is an end without a reason: the link is lost.
[[nodiscard]] Failure to_failure(const Condition& condition, std::string what,
                                 std::span<const ConditionRow> dialect);

} // namespace sessionq::amqp
