#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include <sessionq/time.hpp>

#include "core/random.hpp"

namespace sessionq::faults {

/// Decides when bytes of one direction of a connection go on their way: in order, and each as late
/// as the faults in force make it. No I/O, no clock.
class Conduit {
public:
    static constexpr std::size_t most_held =
        std::size_t{256} << 10U; ///< beyond, nothing more is read: the sender feels it
    static constexpr Duration trickle_pace = std::chrono::microseconds{200};

    explicit Conduit(std::uint64_t seed) noexcept : random_{seed} {}

    // Faults. A later one of the same kind replaces an earlier one.
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
    /// All but the last are over.
    void heal() noexcept {
        stalled_until_ = delays_until_ = throttled_until_ = trickles_until_ = TimePoint::min();
        for (Piece& piece : pieces_) {
            piece.due = TimePoint::min();
        }
    }

    /// Bytes came.
    void arrived(std::size_t bytes, TimePoint now);
    /// The sender has no more; the end is passed on behind what is held.
    void ended() noexcept { has_ended_ = true; }

    struct Next {
        std::size_t bytes{0};           ///< may go now, as one segment
        bool end{false};                ///< all has gone, and so may the end
        TimePoint at{TimePoint::max()}; ///< with neither: when to ask again
    };
    [[nodiscard]] Next next(TimePoint now) const noexcept;
    /// So many went.
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
    TimePoint free_at_{TimePoint::min()}; ///< a throttle's or a trickle's pace
    bool is_black_hole_{false};
    bool has_ended_{false};
};

} // namespace sessionq::faults
