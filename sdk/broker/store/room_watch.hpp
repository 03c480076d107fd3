// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>

#include <sessionq/time.hpp>

namespace sessionq::broker {

/// Decides when a store on a full disk looks for room. A disk that is soon full again is looked at
/// less often: otherwise senders would be refused and let in by turns.
class RoomWatch {
public:
    static constexpr Duration shortest_wait = std::chrono::seconds{1};
    static constexpr Duration longest_wait = std::chrono::seconds{30};
    /// A disk that is full again so soon has no lasting room.
    static constexpr Duration relapse = std::chrono::minutes{1};

    /// The disk became full.
    void on_full(TimePoint now) noexcept {
        const bool is_again = wait_ > Duration::zero() && now - had_room_ < relapse;
        wait_ = is_again ? std::min(2 * wait_, longest_wait) : shortest_wait;
        looked_ = now;
    }

    /// Whether to look now. If so, that counts as a look.
    [[nodiscard]] bool is_due(TimePoint now) noexcept {
        if (now < looked_ + wait_) {
            return false;
        }
        looked_ = now;
        return true;
    }

    /// A look found room.
    void on_room(TimePoint now) noexcept { had_room_ = now; }

private:
    Duration wait_{}; ///< zero: the disk was never full
    TimePoint looked_{};
    TimePoint had_room_{};
};

} // namespace sessionq::broker
