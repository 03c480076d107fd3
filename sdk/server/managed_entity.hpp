// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>

#include "server/peer.hpp"
#include "server/request.hpp"

namespace sessionq::server {

/// The entity whose `$management` node a peer uses.
struct ManagedEntity {
    Peer& peer;
    broker::QueuePtr queue;

    /// Returns the session that the request names itself or by its receiver link. Returns null if
    /// this peer does not hold it.
    [[nodiscard]] const Holder* held_session(const Request& request) const;
};

/// Converts a monotonic instant to the broker's wall clock.
[[nodiscard]] inline WallTime wall_time(TimePoint when, broker::Instant now) {
    return now.wall + std::chrono::duration_cast<WallTime::duration>(when - now.now);
}

// AMQP constructor codes for array elements in responses. Every client reads the widest form.
inline constexpr std::uint8_t long_code = 0x81;
inline constexpr std::uint8_t timestamp_code = 0x83;
inline constexpr std::uint8_t string_code = 0xb1;

} // namespace sessionq::server
