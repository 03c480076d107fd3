#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>

#include <sessionq/operation_context.hpp>

#include "core/mpsc_queue.hpp"
#include "core/task.hpp"

namespace sessionq::dispatch {

/// Tasks for workers, first come first served, each with the operation context of whoever submitted
/// it (R21).
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

    /// The oldest; null when there is none.
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

    /// Whether `pop` would find one; asked by a worker that announced its sleep, so that either the
    /// task is seen here or the sleeper by who pushed it.
    [[nodiscard]] bool has_work() {
        const std::lock_guard guard{mutex_};
        return collect();
    }

    /// About how many wait: a hint.
    [[nodiscard]] std::size_t size() const noexcept {
        return count_.load(std::memory_order_relaxed);
    }

    /// Destroys all unrun.
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
    Entry* oldest_{nullptr}; // guarded by mutex_; those behind it are linked
};

} // namespace sessionq::dispatch
