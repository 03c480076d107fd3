#pragma once

#include <chrono>

#include "server/peer.hpp"
#include "server/request.hpp"

namespace sessionq::server {

/// The entity whose `$management` node a peer asks.
struct ManagedEntity {
    Peer& peer;
    broker::QueuePtr queue;

    /// The session the request names, or whose receiver it names; null: none of that kind is held
    /// by this peer.
    [[nodiscard]] const Holder* held_session(const Request& request) const;
};

/// A monotonic instant by the broker's calendar.
[[nodiscard]] inline WallTime wall_time(TimePoint when, broker::Instant now) {
    return now.wall + std::chrono::duration_cast<WallTime::duration>(when - now.now);
}

// Constructor codes of the elements of arrays in answers, in the widest form: every client reads it.
inline constexpr std::uint8_t long_code = 0x81;
inline constexpr std::uint8_t timestamp_code = 0x83;
inline constexpr std::uint8_t string_code = 0xb1;

} // namespace sessionq::server
