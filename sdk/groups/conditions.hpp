// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <sessionq/error.hpp>

#include "amqp/condition.hpp"

namespace sessionq::groups {

/// Maps a condition of the AMQP standard to a failure. `what` names the operation that failed. An
/// empty condition means that the broker gave no reason: `connection_lost`. If this side found the
/// fault (`condition.found`), the failure has that code, and the condition's text in its detail.
[[nodiscard]] Failure to_failure(const amqp::Condition& condition, std::string what);

/// Returns the failure that a link's owner gets when the link ends because of `why`. Its code is
/// `connection_lost`, unless the broker names a reason that a retry does not cure.
[[nodiscard]] Failure loss_from(Failure why);

/// The condition of a link that is dropped because the broker does not answer a drain.
[[nodiscard]] amqp::Condition unanswered_drain();

/// The failure of an accept whose connection has no room for another receiver link.
[[nodiscard]] Failure no_more_links(const std::string& entity);

} // namespace sessionq::groups
