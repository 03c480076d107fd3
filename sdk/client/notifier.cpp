#include "client/notifier.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "core/log.hpp"

namespace sessionq::client {

struct Notifier::Queue {
    void run() {
        std::unique_lock lock{mutex};
        for (;;) {
            changed.wait(lock, [this] { return ending || !tasks.empty(); });
            if (tasks.empty()) {
                return;
            }
            core::Task task = std::move(tasks.front());
            tasks.pop_front();
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

    std::mutex mutex{};
    std::condition_variable changed{};
    std::deque<core::Task> tasks{};
    bool ending{false};
};

Notifier::Notifier() : queue_{std::make_shared<Queue>()} {}

Notifier::~Notifier() {
    {
        const std::lock_guard lock{queue_->mutex};
        queue_->ending = true;
    }
    queue_->changed.notify_one();
    if (thread_.get_id() == std::this_thread::get_id()) {
        thread_.detach();
    } else if (thread_.joinable()) {
        thread_.join();
    }
}

void Notifier::post(core::Task task) {
    const std::lock_guard lock{queue_->mutex};
    queue_->tasks.push_back(std::move(task));
    if (!thread_.joinable()) {
        thread_ = std::thread{[queue = queue_] { queue->run(); }};
    }
    queue_->changed.notify_one();
}

} // namespace sessionq::client
