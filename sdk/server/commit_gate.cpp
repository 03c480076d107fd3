// SPDX-License-Identifier: MIT
#include "server/commit_gate.hpp"

#include <algorithm>
#include <utility>

namespace sessionq::server {
namespace {

// A few tenths of a millisecond.
constexpr std::size_t most_at_once = 100;

} // namespace

struct CommitGate::Line {
    CommitGate* gate; // null once the gate is destroyed; used on the loop's thread only
    core::EventLoop& loop;
};

CommitGate::CommitGate(broker::Journal* journal, core::EventLoop& loop, core::TurnLine& turns)
    : journal_{journal},
      line_{journal != nullptr ? std::make_shared<Line>(Line{this, loop}) : nullptr},
      turns_{turns} {}

CommitGate::~CommitGate() {
    if (line_) {
        line_->gate = nullptr;
    }
}

void CommitGate::when_durable(Action action) {
    waiting_.push_back({journal_->last(), std::move(action)});
    ask();
}

// Asks once for all waiting actions, because one commit often covers several.
void CommitGate::ask() {
    if (has_asked_ || waiting_.empty()) {
        return;
    }
    has_asked_ = true;
    journal_->when_durable([line = line_](broker::Journal::Mark mark, const Failure* why) {
        line->loop.post([line, mark, why = why != nullptr ? std::optional{*why} : std::nullopt] {
            if (line->gate != nullptr) {
                line->gate->on_answer(mark, why ? &*why : nullptr);
            }
        });
    });
}

void CommitGate::on_answer(broker::Journal::Mark mark, const Failure* why) {
    const auto end =
        std::ranges::find_if(waiting_, [mark](const Waiting& one) { return one.mark > mark; });
    answered_ = static_cast<std::size_t>(end - waiting_.begin());
    why_ = why != nullptr ? std::optional{*why} : std::nullopt;
    run_some();
}

void CommitGate::run_some() {
    for (std::size_t left = most_at_once; left > 0 && answered_ > 0; --left) {
        const Action action = std::move(waiting_.front().action);
        waiting_.pop_front();
        --answered_; // an action that waits again is answered by a later commit
        action(why_ ? &*why_ : nullptr);
    }
    if (answered_ > 0) {
        turns_.add([line = line_] {
            if (line->gate != nullptr) {
                line->gate->run_some();
            }
        });
        return;
    }
    has_asked_ = false;
    ask();
}

} // namespace sessionq::server
