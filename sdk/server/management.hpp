// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>

#include "server/managed_entity.hpp"
#include "server/request.hpp"

namespace sessionq::server {

/// The `$management` node of an entity. Answers each request at once, if the peer has the right to
/// it. An answer may allow the request to wait (`Answer::hold`).
class Management {
public:
    /// `node`: the path that claims for it must cover.
    Management(Peer& peer, broker::QueuePtr queue, std::string node)
        : entity_{peer, std::move(queue)}, node_{std::move(node)} {}

    [[nodiscard]] Answer answer(const Request& request) const;

private:
    ManagedEntity entity_;
    std::string node_;
};

} // namespace sessionq::server
