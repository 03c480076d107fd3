// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "core/event_loop.hpp"
#include "core/weak_handle.hpp"

namespace sessionq::core {

/// Runs replies by a later turn of the loop, in order, many with one post. A reply may destroy the
/// queue. Destroying the queue drops the replies that are left. Bound to the loop.
class ReplyQueue {
public:
    explicit ReplyQueue(EventLoop& loop) : loop_{loop} {}

    void push(Task reply) {
        waiting_.push_back(std::move(reply));
        if (waiting_.size() == 1) {
            loop_.post([handle = anchor_.handle()] {
                if (ReplyQueue* const queue = handle.get()) {
                    queue->run_waiting();
                }
            });
        }
    }

    /// Runs now the replies that are left, for an owner that is about to go.
    void flush() {
        const auto handle = anchor_.handle();
        run();
        if (handle.get() != nullptr) {
            run_waiting();
        }
    }

    /// Drops the replies that are left.
    void clear() noexcept {
        waiting_.clear();
        running_.clear();
    }

private:
    void run_waiting() {
        running_ = std::exchange(waiting_, {});
        next_ = 0;
        run();
    }
    void run() {
        const auto handle = anchor_.handle();
        while (next_ < running_.size()) {
            Task reply = std::move(running_[next_++]);
            reply();
            if (handle.get() == nullptr) {
                return;
            }
        }
        running_ = std::vector<Task>{}; // many sessions that wait have a queue each
    }

    EventLoop& loop_;
    std::vector<Task> waiting_{};
    std::vector<Task> running_{};
    std::size_t next_{0}; // in running_
    const Anchor<ReplyQueue> anchor_{*this};
};

} // namespace sessionq::core
