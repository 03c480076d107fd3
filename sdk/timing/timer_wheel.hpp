#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <sessionq/time.hpp>

#include "core/intrusive_list.hpp"
#include "timing/timer.hpp"

namespace sessionq::timing {

/// The timers of one thread, filed by due time in a hierarchy of wheels: a timer lies in a coarse
/// bucket while it is far away and moves to finer ones as its time comes near. Inserting, moving
/// and cancelling are O(1) whatever the number of timers. Wheels are made when a timer first needs
/// their reach, so that an unused wheel is some words and one of short timers a few kilobytes.
///
/// Pure: it reads no clock and runs no callback. Resolution is one millisecond, rounded up: a timer
/// never expires before it is due. Bound to one thread. Destroying the wheel disarms its timers.
class TimerWheel {
public:
    using List = core::IntrusiveList<Timer>;

    static constexpr std::chrono::milliseconds resolution{1};

    explicit TimerWheel(TimePoint start) noexcept;
    ~TimerWheel();
    TimerWheel(const TimerWheel&) = delete;
    TimerWheel& operator=(const TimerWheel&) = delete;

    /// Arms `timer`, or moves it if it is armed. Due in the past: expires with the next `advance`,
    /// also if that brings no later `now`. `TimePoint::max()`: armed, but never expires. Throws
    /// only `std::bad_alloc`, and then leaves the timer as it was.
    void insert(Timer& timer, TimePoint due);

    /// Disarms a timer of this wheel; no effect on one that is not in it.
    void cancel(Timer& timer) noexcept;

    /// Takes the timers that are due at `now` out of the wheel and appends them to `expired`, in
    /// the order of their due milliseconds and, within one, of insertion. What was overdue when it
    /// was inserted counts as due at the instant of insertion. A `now` before an earlier one counts
    /// as that one.
    void advance(TimePoint now, List& expired) noexcept;

    /// The earliest instant at which `advance` will find something; none if nothing will ever
    /// expire. Exact, so an empty wheel costs no wake-up. Costs some bit tests, and a look at the
    /// timers of one bucket when the earliest of them was cancelled or has just expired.
    [[nodiscard]] std::optional<TimePoint> next_wakeup() const noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    using Tick = std::uint64_t; // milliseconds since start

    struct Level;
    struct Bucket {
        unsigned level;
        unsigned slot;
        Tick start;
    };

    static constexpr unsigned bits_per_level = 8;
    static constexpr unsigned slots_per_level = 1U << bits_per_level;
    static constexpr unsigned levels = 6; // 48 bits of milliseconds: more than a TimePoint can hold
    static constexpr std::uint16_t no_position = 0xffff;

    [[nodiscard]] Tick tick_at_or_after(TimePoint time) const noexcept;
    [[nodiscard]] Tick tick_at_or_before(TimePoint time) const noexcept;
    [[nodiscard]] TimePoint time_of(Tick tick) const noexcept;
    [[nodiscard]] unsigned level_of(Tick tick) const noexcept;
    [[nodiscard]] std::optional<Bucket> first_bucket() const noexcept;
    [[nodiscard]] TimePoint find_next() const noexcept;

    void make_levels(unsigned top);
    void file(Timer& timer, Tick tick, unsigned level) noexcept;
    void expire(const Bucket& bucket, List& expired) noexcept;
    void cascade(const Bucket& bucket) noexcept;
    void disarm_all(List& list) noexcept;

    // A timer due at tick t lies in the level of the highest digit (of 8 bits) in which t differs from current_, under its own digit of that level. So a
    // level holds only buckets that lie ahead, each level's buckets come before the next level's, and a bucket is cascaded exactly once.
    TimePoint origin_;
    Tick current_{0};
    Tick last_tick_; // the last that a TimePoint can express; later is never
    std::size_t size_{0};
    mutable TimePoint next_; // cached: the next wake-up, max: none, min: not known
    std::array<std::unique_ptr<Level>, levels> levels_;
    List never_;
};

} // namespace sessionq::timing
