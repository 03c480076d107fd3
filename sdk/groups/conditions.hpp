// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <sessionq/error.hpp>

#include "amqp/condition.hpp"

namespace sessionq::groups {

/// Maps a condition of the AMQP standard to a failure. `what` names the operation that failed. An
/// empty condition is an end without a reason: connection_lost. A condition that this side found
/// becomes part of the detail.
[[nodiscard]] Failure to_failure(const amqp::Condition& condition, std::string what);

/// The failure that a link's owner hears of its end: a loss, unless the broker names a reason that
/// trying again does not cure.
[[nodiscard]] Failure loss_from(Failure why);

/// A link whose broker does not answer a drain is given up with this.
[[nodiscard]] amqp::Condition unanswered_drain();

/// The failure of an accept whose connection has no room for another receiver link.
[[nodiscard]] Failure no_more_links(const std::string& entity);

} // namespace sessionq::groups
