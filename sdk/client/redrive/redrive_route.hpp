// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <sessionq/redrive.hpp>

#include "ports/capabilities.hpp"

namespace sessionq::detail::client {

/// The places of a redrive: where an entity's dead letters are, and where their copies are sent.
/// `redrive_route` finds them before a redrive begins.
struct RedriveRoute {
    std::string entity{};       ///< its sessions are held, and copies are searched in it
    std::string dead_letters{}; ///< its sub-queue
    std::string target{};       ///< the entity, or the topic of the subscription
    std::string source{};       ///< the sub-queue as marks name it
};

/// Checks the arguments of a redrive and returns its places. Throws if an argument is invalid, or
/// if the broker has no dead-letter queues or cannot peek.
[[nodiscard]] RedriveRoute redrive_route(const ports::Capabilities& broker, std::string entity,
                                         const RedriveOptions& options);

} // namespace sessionq::detail::client
