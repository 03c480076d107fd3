// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>

#include <sessionq/operation_context.hpp>

#include "core/mpsc_queue.hpp"
#include "core/task.hpp"

namespace sessionq::dispatch {

/// Tasks for workers, first come first served. Each carries the operation context of the thread
/// that submitted it (R21).
///
/// Thread-safe; pushing takes no lock.
class TaskQueue {
public:
    struct Entry : core::MpscNode {
        Entry(core::Task what, OperationContext under)
            : task{std::move(what)}, context{std::move(under)} {}

        core::Task task;
        OperationContext context;
    };

    TaskQueue() = default;
    ~TaskQueue() { clear(); }
    TaskQueue(const TaskQueue&) = delete;
    TaskQueue& operator=(const TaskQueue&) = delete;

    void push(core::Task task, const OperationContext& context) {
        auto entry = std::make_unique<Entry>(std::move(task), context);
        count_.fetch_add(1, std::memory_order_relaxed);
        incoming_.push(*entry.release());
    }

    /// Removes and returns the oldest task. Null if there is none.
    [[nodiscard]] std::unique_ptr<Entry> pop() {
        const std::lock_guard guard{mutex_};
        if (!collect()) {
            return nullptr;
        }
        std::unique_ptr<Entry> entry{oldest_};
        oldest_ = core::MpscQueue<Entry>::next(*oldest_);
        count_.fetch_sub(1, std::memory_order_relaxed);
        return entry;
    }

    /// Whether `pop` would find a task. A worker asks after it has announced its sleep: either this
    /// call sees the task, or the pushing thread sees the sleeper.
    [[nodiscard]] bool has_work() {
        const std::lock_guard guard{mutex_};
        return collect();
    }

    /// Approximately how many tasks wait: a hint.
    [[nodiscard]] std::size_t size() const noexcept {
        return count_.load(std::memory_order_relaxed);
    }

    /// Destroys all tasks without running them.
    void clear() {
        while (pop()) {
        }
    }

private:
    bool collect() noexcept {
        if (oldest_ == nullptr) {
            oldest_ = incoming_.take_all();
        }
        return oldest_ != nullptr;
    }

    core::MpscQueue<Entry> incoming_;
    std::atomic<std::size_t> count_{0};
    std::mutex mutex_;
    Entry* oldest_{nullptr}; // guarded by mutex_; the entries behind it are linked
};

} // namespace sessionq::dispatch
