// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <mutex>
#include <utility>

#include "core/event_loop.hpp"

namespace sessionq::detail::processor {

/// Decides which sessions of a processor may handle a suspect now. A suspect is a message that may
/// have killed its consumers (`CrashGuard`). A suspect that is nearly condemned is handled alone.
/// Otherwise it could be condemned for the crash of another suspect. Sessions get their turns in
/// the order in which they ask. `SessionDriver` takes a turn before a suspect starts, and ends the
/// turn afterwards. All shards share the object. Thread-safe.
class SuspectTurn {
public:
    using Holder = const void*;

    /// Asks for a turn. `begin` is posted to `loop` when the turn comes. `alone`: no other holder
    /// may have its turn at the same time.
    void take(Holder holder, core::EventLoop& loop, bool alone, core::Task begin) {
        const std::lock_guard lock{mutex_};
        entries_.push_back({.holder = holder,
                            .loop = &loop,
                            .begin = std::move(begin),
                            .stage = alone ? Stage::waits_alone : Stage::waits});
        go_on();
    }
    /// Ends a turn, also one that has not come yet. Called once for each `take`.
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

} // namespace sessionq::detail::processor
