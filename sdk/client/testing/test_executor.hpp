// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "core/executor.hpp"

namespace sessionq::client {

/// Runs the coroutine of an application's test on the thread that waits for it.
class TestExecutor final : public core::Executor {
public:
    void post(core::Task task) override {
        const std::lock_guard lock{mutex_};
        tasks_.push_back(std::move(task));
        posted_.notify_one();
    }

    /// Runs tasks until one of them makes `ended` true, and then those that are left.
    template <typename Ended>
    void run_until(Ended ended) {
        while (!ended()) {
            run(take(true));
        }
        for (core::Task task = take(false); task; task = take(false)) {
            run(std::move(task));
        }
    }

private:
    static void run(core::Task task) { task(); }

    /// Empty: there is none, and `waits` is false.
    [[nodiscard]] core::Task take(bool waits) {
        std::unique_lock lock{mutex_};
        if (waits) {
            posted_.wait(lock, [this] { return !tasks_.empty(); });
        } else if (tasks_.empty()) {
            return {};
        }
        core::Task task = std::move(tasks_.front());
        tasks_.pop_front();
        return task;
    }

    std::mutex mutex_{};
    std::condition_variable posted_{};
    std::deque<core::Task> tasks_{}; ///< guarded by `mutex_`
};

} // namespace sessionq::client
