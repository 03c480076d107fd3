#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "core/executor.hpp"

namespace sessionq::client {

/// A thread for the few things that must neither run on a receive thread nor wait for a worker: firing stop tokens, whose callbacks are user code (R13).
/// Started with the first of them; most processors never need it.
class Notifier final : public core::Executor {
public:
    Notifier() = default;
    ~Notifier() override;
    Notifier(const Notifier&) = delete;
    Notifier& operator=(const Notifier&) = delete;

    void post(core::Task task) override;

private:
    void run();

    std::mutex mutex_{};
    std::condition_variable changed_{};
    std::deque<core::Task> tasks_{};
    bool ending_{false};
    std::thread thread_{};
};

} // namespace sessionq::client
