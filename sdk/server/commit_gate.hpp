#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>

#include "broker/journal.hpp"
#include "core/event_loop.hpp"

namespace sessionq::server {

/// Holds back what confirms a change to a peer until the change is durable. Bound to the loop,
/// which outlives the journal's callbacks. What still waits when it is destroyed is never said.
class CommitGate {
public:
    /// Null: what could be lost is not.
    using Action = std::function<void(const Failure* why)>;

    /// Without a journal everything is as durable as it gets.
    CommitGate(broker::Journal* journal, core::EventLoop& loop);
    ~CommitGate();
    CommitGate(const CommitGate&) = delete;
    CommitGate& operator=(const CommitGate&) = delete;

    /// Nothing is ever held back.
    [[nodiscard]] bool is_always_open() const noexcept { return journal_ == nullptr; }

    /// Changes whenever something happens that is to be kept. Only where the gate is not always
    /// open.
    [[nodiscard]] broker::Journal::Mark mark() const noexcept { return journal_->last(); }

    /// Runs `action` when everything that happened so far is durable, or could not be made so; in
    /// order, in a task of its own. Only where the gate is not always open.
    void when_durable(Action action);

    [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.size(); }

private:
    struct Waiting {
        broker::Journal::Mark mark;
        Action action;
    };
    struct Line; // what the journal knows of it

    void ask();
    void on_answer(broker::Journal::Mark mark, const Failure* why);

    broker::Journal* const journal_;
    const std::shared_ptr<Line> line_;
    std::deque<Waiting> waiting_; // by mark
    bool has_asked_{false};       // the journal, and the answer is due
};

} // namespace sessionq::server
