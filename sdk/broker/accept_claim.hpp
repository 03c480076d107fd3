// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>

#include <sessionq/error.hpp>

namespace sessionq::broker {

/// The one answer to an ask that waits at several entities. Each entity asks it before it answers,
/// so the ask is answered once, however the entities' locks and timers interleave. A wait whose ask
/// has been answered elsewhere is dropped by the entity that finds it first in line.
///
/// Thread-safe.
class AcceptClaim {
public:
    /// `entities`: how many entities may still answer. Above zero.
    explicit AcceptClaim(std::size_t entities) noexcept : open_{entities} {}

    /// Takes the answer: to grant a session, or to give the ask up. Returns false if it is taken.
    bool take() noexcept { return open_.exchange(0, std::memory_order_seq_cst) != 0; }

    /// An entity has no session in time. Returns true if none of the others can have one any more:
    /// this entity answers then.
    bool leave() noexcept {
        std::size_t open = open_.load(std::memory_order_seq_cst);
        while (open != 0 &&
               !open_.compare_exchange_weak(open, open - 1, std::memory_order_seq_cst)) {
        }
        return open == 1;
    }

    /// An entity cannot serve the ask. Returns true if it answers: always with a fault, and when it
    /// is the last one if only a session is missing.
    bool refuse(Errc why) noexcept { return why == Errc::no_session_available ? leave() : take(); }

    [[nodiscard]] bool is_taken() const noexcept {
        return open_.load(std::memory_order_seq_cst) == 0;
    }

private:
    std::atomic<std::size_t> open_; // the entities that may answer; zero: it is taken
};

} // namespace sessionq::broker
