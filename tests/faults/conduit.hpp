// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include <sessionq/time.hpp>

#include "core/random.hpp"

namespace sessionq::faults {

/// Decides when the bytes of one direction of a connection are forwarded: in order, and as late as
/// the active faults demand. No I/O, no clock.
class Conduit {
public:
    /// no more is read beyond it, so the sender is blocked
    static constexpr std::size_t most_held = std::size_t{256} << 10U;
    static constexpr Duration trickle_pace = std::chrono::microseconds{200};

    explicit Conduit(std::uint64_t seed) noexcept : random_{seed} {}

    // Faults. A later fault replaces an earlier one of the same kind.
    void stall(TimePoint until) noexcept { stalled_until_ = std::max(stalled_until_, until); }
    void delay(Duration least, Duration jitter, TimePoint until) noexcept {
        delay_ = least;
        jitter_ = jitter;
        delays_until_ = until;
    }
    void throttle(std::uint64_t bytes_a_second, TimePoint until) noexcept {
        rate_ = bytes_a_second;
        throttled_until_ = until;
    }
    void trickle(TimePoint until) noexcept { trickles_until_ = until; }
    void swallow() noexcept { is_black_hole_ = true; }
    /// Ends all faults except a black hole.
    void heal() noexcept {
        stalled_until_ = delays_until_ = throttled_until_ = trickles_until_ = TimePoint::min();
        for (Piece& piece : pieces_) {
            piece.due = TimePoint::min();
        }
    }

    /// Adds bytes that arrived.
    void arrived(std::size_t bytes, TimePoint now);
    /// The sender has finished. The end is forwarded after the held bytes.
    void ended() noexcept { has_ended_ = true; }

    struct Next {
        std::size_t bytes{0};           ///< bytes to forward now, as one segment
        bool end{false};                ///< all bytes are forwarded, so forward the end
        TimePoint at{TimePoint::max()}; ///< when to ask again, if neither is set
    };
    [[nodiscard]] Next next(TimePoint now) const noexcept;
    /// Removes forwarded bytes.
    void gone(std::size_t bytes, TimePoint now) noexcept;

    [[nodiscard]] bool wants_more() const noexcept { return held_ < most_held; }
    [[nodiscard]] std::size_t held() const noexcept { return held_; }
    [[nodiscard]] bool is_black_hole() const noexcept { return is_black_hole_; }

private:
    struct Piece {
        std::size_t bytes;
        TimePoint due;
    };

    core::Random random_;
    std::deque<Piece> pieces_{};
    std::size_t held_{0};
    TimePoint stalled_until_{TimePoint::min()};
    Duration delay_{};
    Duration jitter_{};
    TimePoint delays_until_{TimePoint::min()};
    std::uint64_t rate_{0};
    TimePoint throttled_until_{TimePoint::min()};
    TimePoint trickles_until_{TimePoint::min()};
    TimePoint free_at_{TimePoint::min()}; ///< when the throttle or trickle allows the next bytes
    bool is_black_hole_{false};
    bool has_ended_{false};
};

} // namespace sessionq::faults
