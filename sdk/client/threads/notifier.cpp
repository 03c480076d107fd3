// SPDX-License-Identifier: MIT
#include "client/threads/notifier.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <stop_token>
#include <utility>

#include "core/log.hpp"

namespace sessionq::detail::client {

/// The tasks, and the loop that runs them. The thread shares ownership of the queue, because the
/// thread may outlive the notifier.
struct Notifier::Queue {
    void run(const std::stop_token& ending) {
        std::unique_lock lock{mutex};
        while (changed.wait(lock, ending, [this] { return !tasks.empty(); })) {
            core::Task task = std::move(tasks.front());
            tasks.pop_front();
            lock.unlock();
            try {
                task();
            } catch (...) {
                core::log(LogLevel::error, "client", "a callback of the application threw");
            }
            task = {};
            lock.lock();
        }
    }

    std::mutex mutex{};
    std::condition_variable_any changed{};
    std::deque<core::Task> tasks{};
};

Notifier::Notifier() : queue_{std::make_shared<Queue>()} {}

Notifier::~Notifier() {
    if (thread_.get_id() == std::this_thread::get_id()) {
        thread_.request_stop();
        thread_.detach();
    }
}

bool Notifier::on_this_thread() const {
    const std::lock_guard lock{queue_->mutex};
    return thread_.get_id() == std::this_thread::get_id();
}

void Notifier::post(core::Task task) {
    const std::lock_guard lock{queue_->mutex};
    queue_->tasks.push_back(std::move(task));
    if (!thread_.joinable()) {
        thread_ =
            std::jthread{[queue = queue_](const std::stop_token& ending) { queue->run(ending); }};
    }
    queue_->changed.notify_one();
}

} // namespace sessionq::detail::client
