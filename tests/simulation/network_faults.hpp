// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <sessionq/time.hpp>

namespace sessionq::simulation {

/// Faults between a client and a broker that talk over wires: chances in percent and mean times.
/// Zero is never. `Faults` has the latency.
struct NetworkFaults {
    unsigned pieces{1};        ///< one write arrives in at most so many pieces
    Duration cut_every{};      ///< mean time between cuts of a connection, at any byte
    unsigned cut_per_mille{0}; ///< chance of a cut for each piece, so that cuts come under load
    unsigned half_open{0};     ///< one end learns of a cut late or never
    Duration outage_high{};    ///< the longest time after a cut in which connections are refused
    Duration stall_every{};    ///< mean time between stalls of one direction of a connection
    Duration stall_high{};
    unsigned dial_refused{0};
    unsigned dial_mute{0}; ///< nobody answers

    Duration restart_every{}; ///< mean time between restarts of a front; the broker itself stays
    Duration down_high{};
    unsigned restart_orderly{0}; ///< the front tells its clients first

    Duration kill_every{}; ///< mean time between kills of the broker; it is down for up to
                           ///< `down_high` and returns with what its store has

    Duration failing_every{}; ///< mean time between phases in which the store takes nothing and
                              ///< says that it is busy
    Duration failing_high{};
    Duration commit_high{}; ///< the longest time that the store needs for a change

    Duration token_life{}; ///< zero: clients need no tokens
    unsigned token_refused{0};
    Duration token_high{}; ///< the longest time until a token is there

    [[nodiscard]] bool cuts() const noexcept {
        return cut_every > Duration::zero() || cut_per_mille != 0 ||
               restart_every > Duration::zero() || kill_every > Duration::zero() ||
               stall_every > Duration::zero();
    }
};

} // namespace sessionq::simulation
