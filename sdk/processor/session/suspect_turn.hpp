// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <mutex>
#include <utility>

#include "core/event_loop.hpp"

namespace sessionq::processor {

/// Who of a processor's sessions handles a suspect of its `CrashGuard`. One that is nearly
/// condemned is handled while no other suspect is, so that it is not condemned for what another one
/// does. In the order of asking. Thread-safe.
class SuspectTurn {
public:
    using Holder = const void*;

    /// `begin` is posted to `loop` when it is the holder's turn. `alone`: no other holder may have
    /// its turn meanwhile.
    void take(Holder holder, core::EventLoop& loop, bool alone, core::Task begin) {
        const std::lock_guard lock{mutex_};
        entries_.push_back({.holder = holder,
                            .loop = &loop,
                            .begin = std::move(begin),
                            .stage = alone ? Stage::waits_alone : Stage::waits});
        go_on();
    }
    /// Also for a turn that has not come. Once for each `take`.
    void ended(Holder holder) {
        const std::lock_guard lock{mutex_};
        entries_.remove_if([holder](const Entry& entry) { return entry.holder == holder; });
        go_on();
    }

private:
    enum class Stage : std::uint8_t { waits, waits_alone, runs, runs_alone };
    struct Entry {
        Holder holder;
        core::EventLoop* loop;
        core::Task begin;
        Stage stage;
    };

    void go_on() {
        for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
            const bool first = entry == entries_.begin();
            if (entry->stage == Stage::runs_alone ||
                (entry->stage == Stage::waits_alone && !first)) {
                return;
            }
            if (entry->stage == Stage::runs) {
                continue;
            }
            entry->stage = entry->stage == Stage::waits ? Stage::runs : Stage::runs_alone;
            entry->loop->post(std::move(entry->begin));
            if (entry->stage == Stage::runs_alone) {
                return;
            }
        }
    }

    std::mutex mutex_{};
    std::list<Entry> entries_{};
};

} // namespace sessionq::processor
