// SPDX-License-Identifier: MIT
#include "server/commit_gate.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace sessionq::server {

struct CommitGate::Line {
    CommitGate* gate; // null once the gate is destroyed; used on the loop's thread only
    core::EventLoop& loop;
};

CommitGate::CommitGate(broker::Journal* journal, core::EventLoop& loop)
    : journal_{journal},
      line_{journal != nullptr ? std::make_shared<Line>(Line{this, loop}) : nullptr} {}

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
    has_asked_ = false;
    const auto end =
        std::ranges::find_if(waiting_, [mark](const Waiting& one) { return one.mark > mark; });
    for (auto left = end - waiting_.begin(); left > 0;
         --left) { // an action that waits again is answered by a later commit
        const Action action = std::move(waiting_.front().action);
        waiting_.pop_front();
        action(why);
    }
    ask();
}

} // namespace sessionq::server
