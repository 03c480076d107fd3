// SPDX-License-Identifier: MIT
#include "timing/idle_index.hpp"

#include <algorithm>
#include <bit>

namespace sessionq::timing {

namespace {

using std::chrono::seconds;

std::size_t slots_for(Duration longest) noexcept {
    return static_cast<std::size_t>(
        std::max<seconds::rep>(std::chrono::ceil<seconds>(longest).count(), 1));
}

/// Returns `TimePoint::max()` if the entry never turns idle.
TimePoint turns_idle(TimePoint active, Duration idle) noexcept {
    const bool enabled = idle > Duration::zero();
    const bool reachable = active <= TimePoint{} || idle < TimePoint::max() - active;
    return enabled && reachable ? active + idle : TimePoint::max();
}

} // namespace

IdleIndex::IdleIndex(TimePoint start, Duration longest)
    : origin_{start}, circles_{Circle{slots_for(longest)}, Circle{slots_for(longest)}} {}

IdleIndex::~IdleIndex() {
    for (Circle& circle : circles_) {
        for (List& slot : circle.slots) {
            circle.idle.splice_back(slot);
        }
        while (IdleHook* hook = circle.idle.pop_front()) {
            hook->watched_ = false;
        }
    }
}

void IdleIndex::add(IdleEntry& entry, TimePoint now) noexcept {
    on_read(entry, now);
    on_write(entry, now);
}

void IdleIndex::remove(IdleEntry& entry) noexcept {
    for (IdleHook* hook : {&entry.read_, &entry.write_}) {
        hook->unlink();
        hook->watched_ = false;
    }
}

void IdleIndex::set_idle(IdleEntry& entry, IdleKind kind, Duration idle) noexcept {
    IdleHook& hook = kind == IdleKind::read ? entry.read_ : entry.write_;
    hook.idle_ = idle;
    if (hook.watched_) {
        file(hook, circle(kind));
    }
}

std::optional<TimePoint> IdleIndex::next_wakeup() const noexcept {
    std::optional<Second> first;
    for (const Circle& circle : circles_) {
        if (const auto second = first_filed(circle)) {
            first = std::min(*second, first.value_or(*second));
        }
    }
    return first ? std::optional{origin_ + seconds{*first}} : std::nullopt;
}

std::optional<IdleIndex::Second> IdleIndex::first_filed(const Circle& circle) const noexcept {
    const Second circumference = circle.slots.size();
    for (Second second = current_ + 1; second <= current_ + circumference;) {
        const Second slot = second % circumference;
        std::uint64_t& word = circle.occupied[slot / 64];
        const std::uint64_t ahead = word >> (slot % 64);
        if (ahead == 0) {
            second += std::min(64 - slot % 64, circumference - slot);
            continue;
        }
        const auto skip = static_cast<Second>(std::countr_zero(ahead));
        second += skip;
        if (!circle.slots[slot + skip].empty()) {
            return second;
        }
        word &= ~(std::uint64_t{1} << ((slot + skip) % 64));
    }
    return std::nullopt;
}

void IdleIndex::on_activity(IdleHook& hook, Circle& circle, TimePoint now) noexcept {
    hook.active_ = now;
    hook.watched_ = true;
    file(hook, circle);
}

void IdleIndex::file(IdleHook& hook, Circle& circle) noexcept {
    const TimePoint idle_at = turns_idle(hook.active_, hook.idle_);
    if (idle_at == TimePoint::max()) {
        hook.unlink();
        return;
    }
    const Second due =
        idle_at <= origin_
            ? 0
            : static_cast<Second>(std::chrono::ceil<seconds>(idle_at - origin_).count());
    const Second second = std::max(due, current_ + 1);
    if (hook.is_linked() && hook.second_ == second) {
        return;
    }
    hook.unlink();
    hook.second_ = second;
    const Second slot = second % circle.slots.size();
    circle.slots[slot].push_back(hook);
    circle.occupied[slot / 64] |= std::uint64_t{1} << (slot % 64);
}

/// Moves the entries of all seconds that have passed to the idle lists. A slot may also hold
/// entries of a later round; `next_idle` files those again.
void IdleIndex::collect(TimePoint now) noexcept {
    const Second target =
        now <= origin_ ? 0
                       : static_cast<Second>(std::chrono::floor<seconds>(now - origin_).count());
    if (target <= current_) {
        return;
    }
    for (Circle& circle : circles_) {
        const Second circumference = circle.slots.size();
        const Second last = std::min(target, current_ + circumference);
        for (Second second = current_ + 1; second <= last; ++second) {
            circle.idle.splice_back(circle.slots[second % circumference]);
        }
    }
    current_ = target;
}

IdleEntry* IdleIndex::next_idle(IdleKind kind, TimePoint now) noexcept {
    while (IdleHook* hook = circle(kind).idle.pop_front()) {
        if (turns_idle(hook->active_, hook->idle_) <= now) {
            hook->watched_ = false;
            return hook->entry_;
        }
        file(*hook, circle(kind)); // due in a later round
    }
    return nullptr;
}

} // namespace sessionq::timing
