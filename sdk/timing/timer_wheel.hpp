// SPDX-License-Identifier: MIT
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

/// The timers of one thread, filed by due time in a hierarchy of wheels. A distant timer lies in a
/// coarse bucket and moves to finer ones as its time comes near. Inserting, moving and cancelling
/// are O(1). A wheel is allocated when a timer first needs its range. An unused hierarchy takes a
/// few words, one with short timers only a few kilobytes.
///
/// Reads no clock and runs no callback. The resolution is one millisecond, rounded up: a timer
/// never expires early. Bound to one thread. Destroying the wheel disarms its timers.
class TimerWheel {
public:
    using List = core::IntrusiveList<Timer>;

    static constexpr std::chrono::milliseconds resolution{1};

    explicit TimerWheel(TimePoint start) noexcept;
    ~TimerWheel();
    TimerWheel(const TimerWheel&) = delete;
    TimerWheel& operator=(const TimerWheel&) = delete;

    /// Arms `timer`, or moves it if it is armed. If `due` is in the past, it expires with the next
    /// `advance`, even if `now` is the same there. With `TimePoint::max()` it is armed but never
    /// expires. Throws only `std::bad_alloc`, and then leaves the timer unchanged.
    void insert(Timer& timer, TimePoint due);

    /// Disarms `timer`. No effect if it is not in this wheel.
    void cancel(Timer& timer) noexcept;

    /// Removes the timers that are due at `now` and appends them to `expired`. They are in the
    /// order of their due milliseconds, and within a millisecond in the order of insertion. A timer
    /// that was overdue on insertion counts as due at that instant. An earlier `now` than before
    /// counts as the previous one.
    void advance(TimePoint now, List& expired) noexcept;

    /// The earliest instant at which `advance` will find a timer; empty if none will ever expire.
    /// Exact, so an empty wheel causes no wake-up. Costs a few bit tests. It also walks one bucket
    /// if the earliest timer was cancelled or has just expired.
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
    // 48 bits of milliseconds: more than a TimePoint can hold
    static constexpr unsigned levels = 6;
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

    // Let t be the due tick, written in digits of 8 bits. The timer lies in the level of the
    // highest digit that differs from current_, in the bucket of t's digit there. Therefore a level
    // holds only buckets ahead of current_. All buckets of a level come before those of the next
    // level. A bucket is cascaded exactly once.
    TimePoint origin_;
    Tick current_{0};
    // The last tick that a TimePoint can express. Later timers never expire.
    Tick last_tick_;
    std::size_t size_{0};
    mutable TimePoint next_; // cached next wake-up; max: none, min: unknown
    std::array<std::unique_ptr<Level>, levels> levels_;
    List never_;
};

} // namespace sessionq::timing
