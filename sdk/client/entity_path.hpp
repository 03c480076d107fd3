// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <sessionq/sub_queue.hpp>

#include "client/check.hpp"
#include "ports/capabilities.hpp"

namespace sessionq::detail::client {

/// Returns the name of the entity or of its sub-queue. Throws `invalid_argument` if `entity` is not
/// a valid name. Throws `not_supported` if the broker has no such sub-queues.
[[nodiscard]] inline std::string entity_path(const ports::Capabilities& broker, std::string entity,
                                             SubQueue sub_queue) {
    check_entity(entity);
    switch (sub_queue) {
    case SubQueue::none: break;
    case SubQueue::dead_letter:
        broker.require(ports::Capability::dead_letter_sub_queue);
        entity += "/$DeadLetterQueue";
        break;
    case SubQueue::transfer_dead_letter:
        broker.require(ports::Capability::transfer_dead_letter_sub_queue);
        entity += "/$Transfer/$DeadLetterQueue";
        break;
    }
    return entity;
}

} // namespace sessionq::detail::client
