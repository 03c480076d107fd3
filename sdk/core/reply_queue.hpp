#pragma once

#include <cstddef>
#include <deque>
#include <utility>

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
                    queue->running_ = std::exchange(queue->waiting_, {});
                    run(queue->running_, handle);
                }
            });
        }
    }

    /// Runs now what is left, for an owner that is about to go.
    void flush() {
        const auto handle = anchor_.handle();
        run(running_, handle);
        if (handle.get() != nullptr) {
            run(waiting_, handle);
        }
    }

    void clear() noexcept {
        running_.clear();
        waiting_.clear();
    }

    [[nodiscard]] bool empty() const noexcept { return running_.empty() && waiting_.empty(); }

private:
    static void run(std::deque<Task>& replies, const WeakHandle<ReplyQueue>& handle) {
        while (handle.get() != nullptr && !replies.empty()) {
            Task reply = std::move(replies.front());
            replies.pop_front();
            reply();
        }
    }

    EventLoop& loop_;
    std::deque<Task> waiting_{};
    std::deque<Task> running_{};
    const Anchor<ReplyQueue> anchor_{*this};
};

} // namespace sessionq::core
