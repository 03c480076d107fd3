#pragma once

#include <utility>

#include "server/managed_entity.hpp"
#include "server/request.hpp"

namespace sessionq::server {

/// What an entity's `$management` node does. Each request is answered at once.
class Management {
public:
    Management(Peer& peer, broker::QueuePtr queue) : entity_{peer, std::move(queue)} {}

    [[nodiscard]] Answer answer(const Request& request) const;

private:
    ManagedEntity entity_;
};

} // namespace sessionq::server
