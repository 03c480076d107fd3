// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "server/configuration.hpp"

namespace sessionq::server {

/// The entities of a configuration that was read again while its broker runs.
struct ConfigurationChange {
    Configuration added{};
    std::vector<TopicEntry> grown{}; ///< Topics that are there, with their new subscriptions alone.
    std::vector<std::string> kept{}; ///< Names of those that are missing or differ in it.
};

/// Pure: the difference between two configurations. Names ignore case.
[[nodiscard]] ConfigurationChange compare(const Configuration& before, const Configuration& now);

/// Creates the entities that were added. Fails like the broker's own functions.
core::Result<core::Done> apply(const ConfigurationChange& change, broker::Broker& broker,
                               broker::Instant at);

} // namespace sessionq::server
