// SPDX-License-Identifier: MIT
#include "simulation/scheduler.hpp"

#include <algorithm>

namespace sessionq::simulation {

Scheduler::Scheduler(std::uint64_t seed, Trace trace)
    : trace_{std::move(trace)}, random_{seed}, start_{std::chrono::hours{1}}, now_{start_} {}

WallTime Scheduler::wall_now() const noexcept {
    return WallTime{std::chrono::duration_cast<WallTime::duration>(now_.time_since_epoch())} +
           std::chrono::hours{24 * 365 * 50};
}

Duration Scheduler::between(Duration low, Duration high) noexcept {
    const auto span = static_cast<std::uint64_t>((high - low) / std::chrono::milliseconds{1});
    return low + std::chrono::milliseconds{random_.below(span + 1)};
}

void Scheduler::remove(Actor& actor) noexcept { std::erase(actors_, &actor); }

void Scheduler::at(TimePoint when, std::function<void()> what) {
    events_.emplace(std::max(when, now_), std::move(what));
}

Actor* Scheduler::choose() {
    std::uint64_t total = 0;
    Actor* chosen = nullptr;
    for (Actor* actor :
         actors_) { // a reservoir of one: each actor stays with its share of the weight seen so far
        if (actor->runnable()) {
            total += actor->weight;
            if (random_.below(total) < actor->weight) {
                chosen = actor;
            }
        }
    }
    if (!events_.empty() && events_.begin()->first <= now_ && random_.below(total + 2) < 2) {
        return nullptr;
    }
    return chosen;
}

TimePoint Scheduler::next_due() const {
    TimePoint next = events_.empty() ? TimePoint::max() : events_.begin()->first;
    for (const Actor* actor : actors_) {
        next = std::min(next, actor->next_due());
    }
    return next;
}

bool Scheduler::step() {
    ++steps_;
    const bool event_due = !events_.empty() && events_.begin()->first <= now_;
    if (Actor* actor = choose()) {
        if (tracing()) {
            trace("step ", actor->name());
        }
        actor->step();
        return true;
    }
    if (event_due) {
        auto event = events_.extract(events_.begin());
        trace("step event");
        event.mapped()();
        return true;
    }
    const TimePoint next = next_due();
    if (next == TimePoint::max()) {
        return false;
    }
    if (next > now_) {
        if (before_advance) {
            before_advance(next);
        }
        now_ = next;
    }
    return true;
}

} // namespace sessionq::simulation
