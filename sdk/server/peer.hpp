// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "broker/broker.hpp"
#include "core/event_loop.hpp"
#include "core/log.hpp"
#include "core/turn_line.hpp"
#include "server/claims.hpp"
#include "server/commit_gate.hpp"
#include "server/held_locks.hpp"
#include "server/limit_strikes.hpp"
#include "server/limits.hpp"
#include "server/memory_book.hpp"
#include "server/reply_routes.hpp"
#include "server/send_room.hpp"

namespace sessionq::server {

/// State that everything on one peer's connection shares. Bound to the connection's loop.
struct Peer {
    Peer(broker::Broker& with, core::EventLoop& on, const AccessPolicy& policy,
         const Limits& within, core::TurnLine& long_work, MessageLocks& message_locks,
         LimitStrikes& met, const MemoryBook& book)
        : broker{with},
          loop{on},
          limits{within},
          turns{long_work},
          strikes{met},
          memory{book},
          claims{policy},
          commits{with.journal(), on, long_work},
          locks{message_locks} {}

    [[nodiscard]] broker::Instant now() const noexcept {
        return {.now = loop.now(), .wall = loop.wall_now()};
    }

    /// The broker refused messages that this peer sent. A bound that was met is logged.
    void refused(const Failure& why) {
        if (why.code != Errc::quota_exceeded) {
            return;
        }
        if (const auto line = strikes.note(why.detail, loop.now())) {
            core::log(LogLevel::warning, "server", *line);
        }
    }

    broker::Broker& broker;
    core::EventLoop& loop;
    const Limits& limits;
    core::TurnLine& turns; ///< of the loop
    LimitStrikes& strikes;
    const MemoryBook& memory; ///< of all connections of the loop
    Claims claims;
    CommitGate commits; ///< delays confirmations until they are durable
    HeldLocks locks;
    ReplyRoutes routes{};
    SendRoom* room{nullptr}; ///< of the connection
    /// head of the delivery being sent; shared, so that feeds need no buffer of their own
    std::string head{};
    /// messages of the pull under way; shared in the same way
    std::vector<broker::Delivered> delivered{};
    std::size_t held_requests{0};         ///< requests that wait for a message
    std::size_t waiting_request_bytes{0}; ///< of requests that wait for room
    std::size_t answer_bytes{0};          ///< of long answers that are not sent yet
    std::size_t waiting_batch_bytes{0};   ///< of batches that are decoded in turns, and messages
    std::size_t unconfirmed{0};           ///< sends that were taken and are not answered yet
    bool is_quiescing{false};             ///< no more messages are sent, and no more asked for
};

} // namespace sessionq::server
