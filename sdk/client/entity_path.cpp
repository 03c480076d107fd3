// SPDX-License-Identifier: MIT
#include "client/entity_path.hpp"

#include "client/check.hpp"

namespace sessionq::client {

std::string entity_path(const ports::Capabilities& broker, std::string entity, SubQueue sub_queue) {
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

} // namespace sessionq::client
