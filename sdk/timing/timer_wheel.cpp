// SPDX-License-Identifier: MIT
#include "timing/timer_wheel.hpp"

#include <algorithm>
#include <bit>

namespace sessionq::timing {

namespace {

constexpr std::uint64_t units_per_tick = Duration{TimerWheel::resolution}.count();
constexpr TimePoint not_known = TimePoint::min();

/// The distance from `origin` to a later `time`. Unsigned, because it may exceed a Duration.
std::uint64_t units_between(TimePoint origin, TimePoint time) noexcept {
    return static_cast<std::uint64_t>(time.time_since_epoch().count()) -
           static_cast<std::uint64_t>(origin.time_since_epoch().count());
}

} // namespace

/// One wheel: its buckets, and a bit for each bucket that is not empty.
struct TimerWheel::Level {
    std::array<List, slots_per_level> buckets;
    std::array<std::uint64_t, slots_per_level / 64> occupied{};

    void mark(unsigned slot) noexcept { occupied[slot / 64] |= std::uint64_t{1} << (slot % 64); }
    void unmark(unsigned slot) noexcept {
        occupied[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
    }

    [[nodiscard]] std::optional<unsigned> first() const noexcept {
        for (unsigned word = 0; word < occupied.size(); ++word) {
            if (occupied[word] != 0) {
                return word * 64 + static_cast<unsigned>(std::countr_zero(occupied[word]));
            }
        }
        return std::nullopt;
    }
};

TimerWheel::TimerWheel(TimePoint start) noexcept
    : origin_{start}, last_tick_{tick_at_or_before(TimePoint::max())}, next_{TimePoint::max()} {}

TimerWheel::~TimerWheel() {
    for (auto& level : levels_) {
        if (level != nullptr) {
            std::ranges::for_each(level->buckets, [this](List& bucket) { disarm_all(bucket); });
        }
    }
    disarm_all(never_);
}

void TimerWheel::insert(Timer& timer, TimePoint due) {
    const Tick tick = std::max(tick_at_or_after(due), current_);
    const bool expires = tick <= last_tick_;
    const unsigned level = level_of(tick);
    if (expires && levels_[level] == nullptr) {
        make_levels(level);
    }
    if (timer.wheel_ != nullptr) {
        timer.wheel_->cancel(timer);
    } else if (timer.is_linked()) { // expired, and still in the list of `advance`
        timer.unlink();
    }
    timer.wheel_ = this;
    timer.due_ = due;
    ++size_;
    if (!expires) {
        timer.position_ = no_position;
        never_.push_back(timer);
        return;
    }
    file(timer, tick, level);
    if (due < next_) {
        next_ = time_of(tick);
    }
}

void TimerWheel::cancel(Timer& timer) noexcept {
    if (timer.wheel_ != this) {
        return;
    }
    timer.wheel_ = nullptr;
    timer.unlink();
    --size_;
    if (timer.position_ == no_position) {
        return;
    }
    Level& level = *levels_[timer.position_ / slots_per_level];
    const unsigned slot = timer.position_ % slots_per_level;
    if (level.buckets[slot].empty()) {
        level.unmark(slot);
    }
    if (timer.due_ <= next_) {
        next_ = not_known;
    }
}

void TimerWheel::advance(TimePoint now, List& expired) noexcept {
    const Tick target = std::max(tick_at_or_before(now), current_);
    for (auto bucket = first_bucket(); bucket && bucket->start <= target; bucket = first_bucket()) {
        current_ = bucket->start;
        if (bucket->level == 0) {
            expire(*bucket, expired);
        } else {
            cascade(*bucket);
        }
    }
    current_ = target;
}

std::optional<TimePoint> TimerWheel::next_wakeup() const noexcept {
    if (next_ == not_known) {
        next_ = find_next();
    }
    return next_ == TimePoint::max() ? std::nullopt : std::optional{next_};
}

TimePoint TimerWheel::find_next() const noexcept {
    const auto bucket = first_bucket();
    if (!bucket) {
        return TimePoint::max();
    }
    if (bucket->level == 0) {
        return time_of(bucket->start);
    }
    const List& timers = levels_[bucket->level]->buckets[bucket->slot];
    TimePoint earliest = TimePoint::max();
    for (const Timer* timer = timers.front(); timer != nullptr; timer = timers.next(*timer)) {
        earliest = std::min(earliest, timer->due_);
    }
    return time_of(tick_at_or_after(earliest));
}

TimerWheel::Tick TimerWheel::tick_at_or_after(TimePoint time) const noexcept {
    return time <= origin_ ? 0
                           : (units_between(origin_, time) + (units_per_tick - 1)) / units_per_tick;
}

TimerWheel::Tick TimerWheel::tick_at_or_before(TimePoint time) const noexcept {
    return time <= origin_ ? 0 : units_between(origin_, time) / units_per_tick;
}

/// For ticks up to last_tick_. Computes in unsigned, because the distance may exceed a Duration.
TimePoint TimerWheel::time_of(Tick tick) const noexcept {
    const auto units =
        static_cast<std::uint64_t>(origin_.time_since_epoch().count()) + tick * units_per_tick;
    return TimePoint{Duration{static_cast<Duration::rep>(units)}};
}

unsigned TimerWheel::level_of(Tick tick) const noexcept {
    const auto differing_bits = static_cast<unsigned>(std::bit_width((tick ^ current_) | 1));
    return (differing_bits - 1) / bits_per_level;
}

std::optional<TimerWheel::Bucket> TimerWheel::first_bucket() const noexcept {
    for (unsigned level = 0; level < levels && levels_[level] != nullptr; ++level) {
        if (const auto slot = levels_[level]->first()) {
            const unsigned shift = level * bits_per_level;
            const Tick above = current_ >> (shift + bits_per_level) << (shift + bits_per_level);
            return Bucket{.level = level, .slot = *slot, .start = above | (Tick{*slot} << shift)};
        }
    }
    return std::nullopt;
}

/// Makes all lower levels too, so that cascading never allocates.
void TimerWheel::make_levels(unsigned top) {
    for (unsigned level = 0; level <= top; ++level) {
        if (levels_[level] == nullptr) {
            levels_[level] = std::make_unique<Level>();
        }
    }
}

void TimerWheel::file(Timer& timer, Tick tick, unsigned level) noexcept {
    const auto slot = static_cast<unsigned>(tick >> (level * bits_per_level)) % slots_per_level;
    timer.position_ = static_cast<std::uint16_t>(level * slots_per_level + slot);
    levels_[level]->buckets[slot].push_back(timer);
    levels_[level]->mark(slot);
}

void TimerWheel::expire(const Bucket& bucket, List& expired) noexcept {
    List& timers = levels_[0]->buckets[bucket.slot];
    for (Timer* timer = timers.front(); timer != nullptr; timer = timers.next(*timer)) {
        timer->wheel_ = nullptr;
        --size_;
    }
    levels_[0]->unmark(bucket.slot);
    expired.splice_back(timers);
    next_ = not_known;
}

void TimerWheel::cascade(const Bucket& bucket) noexcept {
    Level& level = *levels_[bucket.level];
    level.unmark(bucket.slot);
    while (Timer* timer = level.buckets[bucket.slot].pop_front()) {
        const Tick tick = tick_at_or_after(timer->due_);
        file(*timer, tick, level_of(tick));
    }
}

void TimerWheel::disarm_all(List& list) noexcept {
    while (Timer* timer = list.pop_front()) {
        timer->wheel_ = nullptr;
    }
}

} // namespace sessionq::timing
