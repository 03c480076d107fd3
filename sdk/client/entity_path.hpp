// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <sessionq/sub_queue.hpp>

#include "ports/capabilities.hpp"

namespace sessionq::client {

/// The name of an entity or of its sub-queue. Throws `invalid_argument` naming `entity`, or
/// `not_supported` if the broker has no such sub-queues.
[[nodiscard]] std::string entity_path(const ports::Capabilities& broker, std::string entity,
                                      SubQueue sub_queue);

} // namespace sessionq::client
