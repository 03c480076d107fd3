#pragma once

#include <memory>
#include <thread>

#include "core/executor.hpp"

namespace sessionq::client {

/// A thread for the few things that must neither run on a receive thread nor wait for a worker:
/// firing stop tokens, whose callbacks are user code (R13). Started with the first of them; most
/// processors never need it.
class Notifier final : public core::Executor {
public:
    Notifier();
    /// Waits until all that was posted has run; on the notifier's own thread, where a callback let
    /// go of the last client, it leaves that to the thread.
    ~Notifier() override;
    Notifier(const Notifier&) = delete;
    Notifier& operator=(const Notifier&) = delete;

    void post(core::Task task) override;

private:
    struct Queue;

    std::shared_ptr<Queue> queue_;
    std::thread thread_{}; // guarded by the queue's mutex
};

} // namespace sessionq::client
