#pragma once

#include <functional>
#include <string>

#include "broker/broker.hpp"
#include "core/event_loop.hpp"
#include "server/claims.hpp"
#include "server/commit_gate.hpp"
#include "server/held_locks.hpp"
#include "server/limits.hpp"
#include "server/reply_routes.hpp"

namespace sessionq::server {

/// What everything on one peer's connection shares. Bound to the connection's loop.
struct Peer {
    Peer(broker::Broker& with, core::EventLoop& on, const AccessPolicy& policy,
         const Limits& within)
        : broker{with}, loop{on}, limits{within}, claims{policy}, commits{with.journal(), on} {}

    [[nodiscard]] broker::Instant now() const noexcept {
        return {.now = loop.now(), .wall = loop.wall_now()};
    }

    broker::Broker& broker;
    core::EventLoop& loop;
    const Limits& limits;
    Claims claims;
    CommitGate commits; ///< what confirms something to the peer goes through it
    HeldLocks locks{};
    ReplyRoutes routes{};
    std::function<bool()> is_congested{}; ///< more waits to be sent than should
    std::string head{}; ///< of the delivery that is being sent; here, so that no feed needs memory
                        ///< of its own for it
    std::size_t in_hand{0};   ///< messages handed out and not settled
    bool is_quiescing{false}; ///< no more messages are handed out
};

} // namespace sessionq::server
