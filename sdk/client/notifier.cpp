#include "client/notifier.hpp"

#include <utility>

#include "core/log.hpp"

namespace sessionq::client {

Notifier::~Notifier() {
    {
        const std::lock_guard lock{mutex_};
        ending_ = true;
    }
    changed_.notify_one();
    if (thread_.joinable()) {
        thread_.join();
    }
}

void Notifier::post(core::Task task) {
    const std::lock_guard lock{mutex_};
    tasks_.push_back(std::move(task));
    if (!thread_.joinable()) {
        thread_ = std::thread{[this] { run(); }};
    }
    changed_.notify_one();
}

void Notifier::run() {
    std::unique_lock lock{mutex_};
    for (;;) {
        changed_.wait(lock, [this] { return ending_ || !tasks_.empty(); });
        if (tasks_.empty()) {
            return;
        }
        core::Task task = std::move(tasks_.front());
        tasks_.pop_front();
        lock.unlock();
        try {
            task();
        } catch (...) {
            core::log(LogLevel::error, "client", "a stop callback threw");
        }
        task = {};
        lock.lock();
    }
}

} // namespace sessionq::client
