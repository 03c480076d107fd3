// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <sessionq/handler_executor.hpp>

namespace sessionq::test {

/// Keeps its works until the test runs or drops them.
class KeepingExecutor final : public HandlerExecutor {
public:
    void execute(HandlerWork work) override {
        const std::lock_guard lock{mutex_};
        works_.push_back(std::move(work));
        came_.notify_all();
    }

    /// Waits for a work.
    [[nodiscard]] HandlerWork take() {
        std::unique_lock lock{mutex_};
        came_.wait(lock, [this] { return !works_.empty(); });
        HandlerWork work = std::move(works_.front());
        works_.pop_front();
        return work;
    }
    void run_one() { take()(); }
    /// Runs works until it has none. Returns their number.
    std::size_t run_all() {
        std::size_t count = 0;
        for (; kept() > 0; ++count) {
            run_one();
        }
        return count;
    }
    void drop_all() {
        std::deque<HandlerWork> dropped;
        const std::lock_guard lock{mutex_};
        works_.swap(dropped);
    }
    [[nodiscard]] std::size_t kept() const {
        const std::lock_guard lock{mutex_};
        return works_.size();
    }

private:
    mutable std::mutex mutex_{};
    std::condition_variable came_{};
    std::deque<HandlerWork> works_{};
};

/// A pool of threads, as an application has one.
class ThreadsExecutor final : public HandlerExecutor {
public:
    explicit ThreadsExecutor(unsigned threads) {
        for (unsigned i = 0; i < threads; ++i) {
            threads_.emplace_back([this] { serve(); });
        }
    }
    /// Runs the works that it has, and ends its threads.
    ~ThreadsExecutor() override {
        {
            const std::lock_guard lock{mutex_};
            ending_ = true;
            changed_.notify_all();
        }
        for (std::thread& thread : threads_) {
            thread.join();
        }
    }
    ThreadsExecutor(const ThreadsExecutor&) = delete;
    ThreadsExecutor& operator=(const ThreadsExecutor&) = delete;

    void execute(HandlerWork work) override {
        const std::lock_guard lock{mutex_};
        works_.push_back(std::move(work));
        changed_.notify_one();
    }

    [[nodiscard]] bool is_mine(std::thread::id id) const {
        for (const std::thread& thread : threads_) {
            if (thread.get_id() == id) {
                return true;
            }
        }
        return false;
    }

private:
    void serve() {
        for (std::unique_lock lock{mutex_};;) {
            changed_.wait(lock, [this] { return ending_ || !works_.empty(); });
            if (works_.empty()) {
                return;
            }
            HandlerWork work = std::move(works_.front());
            works_.pop_front();
            lock.unlock();
            work();
            lock.lock();
        }
    }

    std::mutex mutex_{};
    std::condition_variable changed_{};
    bool ending_{false};
    std::deque<HandlerWork> works_{};
    std::vector<std::thread> threads_{};
};

/// Does with each work what the test says.
class FunctionExecutor final : public HandlerExecutor {
public:
    explicit FunctionExecutor(std::function<void(HandlerWork)> does) : does_{std::move(does)} {}

    void execute(HandlerWork work) override { does_(std::move(work)); }

private:
    std::function<void(HandlerWork)> does_;
};

} // namespace sessionq::test
