// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "broker/journal.hpp"
#include "core/event_loop.hpp"
#include "core/turn_line.hpp"

namespace sessionq::server {

/// Delays confirmations to a peer until the confirmed change is durable. One commit may confirm
/// very many, so they run in turns. Bound to the loop, which outlives the journal's callbacks.
/// Destroying the gate drops the actions that still wait.
class CommitGate {
public:
    /// `why` is null if the change is durable, else it says why the commit failed.
    using Action = std::function<void(const Failure* why)>;

    /// Without a journal the gate is always open. `turns`: the loop's line for long work.
    CommitGate(broker::Journal* journal, core::EventLoop& loop, core::TurnLine& turns);
    ~CommitGate();
    CommitGate(const CommitGate&) = delete;
    CommitGate& operator=(const CommitGate&) = delete;

    /// Returns true if nothing is ever delayed.
    [[nodiscard]] bool is_always_open() const noexcept { return journal_ == nullptr; }

    /// Returns a mark that grows with every change to be stored. Requires a journal.
    [[nodiscard]] broker::Journal::Mark mark() const noexcept { return journal_->last(); }

    /// Runs `action` once everything up to now is durable or has failed to become so. Actions run
    /// in order, never within the call. Requires a journal.
    void when_durable(Action action);

    [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.size(); }

private:
    struct Waiting {
        broker::Journal::Mark mark;
        Action action;
    };
    struct Line; // the journal's handle to the gate

    void ask();
    void on_answer(broker::Journal::Mark mark, const Failure* why);
    /// Runs some of the actions that an answer is for, and the rest in turns.
    void run_some();

    broker::Journal* const journal_;
    const std::shared_ptr<Line> line_;
    core::TurnLine& turns_;
    std::deque<Waiting> waiting_;  // ordered by mark
    bool has_asked_{false};        // an answer of the journal is due, or its actions run
    std::size_t answered_{0};      // the first ones that wait, and have their answer
    std::optional<Failure> why_{}; // of that answer
};

} // namespace sessionq::server
