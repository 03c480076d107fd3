#pragma once

#include <cstdint>

#include <sessionq/time.hpp>

namespace sessionq::simulation {

/// What goes wrong between a client and a broker that talk over wires; chances in percent, mean
/// times, zero: never. How long bytes travel is in `Faults`.
struct NetworkFaults {
    unsigned pieces{1};        ///< what is written at once arrives in up to so many pieces
    Duration cut_every{};      ///< a connection, at whatever byte it is at
    unsigned cut_per_mille{0}; ///< ... when a piece is on its way, which is when there is load
    unsigned half_open{0};     ///< of cuts: one end learns of it late, or never
    Duration outage_high{};    ///< how long connecting is refused after a cut, at most
    Duration stall_every{};    ///< one direction of a connection carries nothing for a while
    Duration stall_high{};
    unsigned dial_refused{0};
    unsigned dial_mute{0}; ///< neither refused nor taken

    Duration
        restart_every{}; ///< a front of the broker goes, and comes back; the broker itself stays
    Duration down_high{};
    unsigned restart_orderly{0}; ///< ... having told its clients

    Duration kill_every{}; ///< the broker goes as a process does that is killed, for up to
                           ///< `down_high`, and comes back with what its store has

    Duration
        failing_every{}; ///< the broker's store takes nothing for a while: it says that it is busy
    Duration failing_high{};
    Duration commit_high{}; ///< how long the store takes to keep a change, at most

    Duration token_life{}; ///< zero: clients need no tokens
    unsigned token_refused{0};
    Duration token_high{}; ///< how long a token takes to be given, at most

    [[nodiscard]] bool cuts() const noexcept {
        return cut_every > Duration::zero() || cut_per_mille != 0 ||
               restart_every > Duration::zero() || kill_every > Duration::zero() ||
               stall_every > Duration::zero();
    }
};

} // namespace sessionq::simulation
