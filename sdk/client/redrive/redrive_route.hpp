// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <sessionq/redrive.hpp>

#include "ports/capabilities.hpp"

namespace sessionq::client {

/// Where the dead letters of an entity are, and where a redrive sends them. `redrive_route` finds
/// it before a redrive begins.
struct RedriveRoute {
    std::string entity{};       ///< whose sessions are held, and where copies are looked for
    std::string dead_letters{}; ///< its sub-queue
    std::string target{};       ///< the entity, or the topic of the subscription
    std::string source{};       ///< the sub-queue as marks name it
};

/// Throws the errors that `redrive` throws before it asks the broker.
[[nodiscard]] RedriveRoute redrive_route(const ports::Capabilities& broker, std::string entity,
                                         const RedriveOptions& options);

} // namespace sessionq::client
