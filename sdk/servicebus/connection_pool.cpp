// SPDX-License-Identifier: MIT
#include "servicebus/connection_pool.hpp"

#include <algorithm>
#include <utility>

namespace sessionq::detail::servicebus {

ConnectionPool::ConnectionPool(core::EventLoop& loop, asio::io_context& io,
                               EndpointSettings settings)
    : host_{loop, io}, settings_{std::move(settings)}, retired_{loop} {
    connections_.push_back(std::make_unique<BrokerConnection>(host_, settings_, room_));
}

BrokerConnection& ConnectionPool::for_session() {
    const auto found = std::find_if(connections_.begin(), connections_.end(),
                                    [](const auto& each) { return each->pool().has_room(); });
    if (found == connections_.end()) {
        ++settings_.seed; // so that their backoffs differ
        return *connections_.emplace_back(
            std::make_unique<BrokerConnection>(host_, settings_, room_));
    }
    BrokerConnection& chosen = **found;
    retire_unused(chosen);
    return chosen;
}

void ConnectionPool::retire_unused(const BrokerConnection& except) {
    const auto begin =
        std::stable_partition(connections_.begin() + 1, connections_.end(), [&](const auto& each) {
            return each.get() == &except || !each->pool().is_unused();
        });
    for (auto each = begin; each != connections_.end(); ++each) {
        retired_.push([connection = std::move(*each)]() mutable { connection.reset(); });
    }
    connections_.erase(begin, connections_.end());
}

} // namespace sessionq::detail::servicebus
