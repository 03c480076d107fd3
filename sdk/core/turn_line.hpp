// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <utility>

#include "core/event_loop.hpp"

namespace sessionq::core {

/// Long work on a loop, in turns: one at a time, and between two of them the loop does everything
/// else that waits. Work that is not done after its turn lines up again, so all get on. Bound to
/// the loop. Destroying it drops the work that waits.
class TurnLine {
public:
    explicit TurnLine(EventLoop& loop) : loop_{loop} {}
    TurnLine(const TurnLine&) = delete;
    TurnLine& operator=(const TurnLine&) = delete;

    /// Asked before each turn. True: the turn waits until `go_on` is called, on the loop, and is
    /// asked for again then.
    using Pause = std::function<bool()>;
    void set_pause(Pause pause) { pause_ = std::move(pause); }
    void go_on() { post(); }

    /// Runs `turn` once, behind the others and never within the call. It should take less than half
    /// a millisecond.
    void add(std::function<void()> turn) {
        turns_.push_back(std::move(turn));
        if (turns_.size() == 1) {
            post();
        }
    }

    /// Whether no work waits, and none has a turn.
    [[nodiscard]] bool is_empty() const noexcept { return turns_.empty(); }

private:
    void post() {
        loop_.post([line = std::weak_ptr{self_}] {
            if (const auto held = line.lock()) {
                (*held)->run();
            }
        });
    }
    void run() {
        if (pause_ && pause_()) {
            return;
        }
        const std::function<void()> turn = std::move(turns_.front());
        turn();
        turns_.pop_front();
        if (!turns_.empty()) {
            post();
        }
    }

    EventLoop& loop_;
    Pause pause_{};
    std::deque<std::function<void()>> turns_{}; // the first one is posted, or pauses
    const std::shared_ptr<TurnLine*> self_{std::make_shared<TurnLine*>(this)};
};

} // namespace sessionq::core
