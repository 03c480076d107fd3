#pragma once

#include <utility>

#include "server/managed_entity.hpp"
#include "server/request.hpp"

namespace sessionq::server {

/// The `$management` node of an entity. Answers each request at once. An answer may allow
/// the request to wait (`Answer::hold`).
class Management {
public:
    Management(Peer& peer, broker::QueuePtr queue) : entity_{peer, std::move(queue)} {}

    [[nodiscard]] Answer answer(const Request& request) const;

private:
    ManagedEntity entity_;
};

} // namespace sessionq::server
