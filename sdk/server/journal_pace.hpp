// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include <sessionq/time.hpp>

#include "broker/journal.hpp"
#include "core/event_loop.hpp"
#include "core/turn_line.hpp"
#include "timing/timer.hpp"

namespace sessionq::server {

/// Holds a loop's long work back while the journal is behind, so that the changes of other clients
/// are stored soon. A turn waits at most `longest`: long work that stores nothing goes on, slowly,
/// at a disk that hangs. Bound to the loop.
class JournalPace {
public:
    static constexpr std::chrono::milliseconds longest{20};

    /// Without a journal nothing is held back.
    JournalPace(const broker::Journal* journal, core::EventLoop& loop, core::TurnLine& turns);
    ~JournalPace();
    JournalPace(const JournalPace&) = delete;
    JournalPace& operator=(const JournalPace&) = delete;

private:
    [[nodiscard]] bool pauses();
    void go_on();

    const broker::Journal* const journal_;
    core::EventLoop& loop_;
    core::TurnLine& turns_;
    std::optional<TimePoint> until_{}; // the turn that waits does so at most
    timing::Timer timer_;
};

} // namespace sessionq::server
