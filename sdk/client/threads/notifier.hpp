// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <thread>

#include "core/executor.hpp"

namespace sessionq::detail::client {

/// Runs the application's callbacks one after another, on a thread of its own. These are the
/// callbacks of `ClientOptions` and of stop tokens. The notifier's thread fires these tokens. A
/// client has a notifier, and each run of a processor has one, too.
///
/// The callbacks are user code. So they must not run on a receive thread, and they must not wait
/// for a worker (R13). The thread starts with the first task.
class Notifier final : public core::Executor {
public:
    Notifier();
    /// Waits until all posted tasks have run. If a callback released the last client, the
    /// destructor runs on the notifier's own thread. Then the destructor does not wait, and the
    /// thread runs the tasks later.
    ~Notifier() override;
    Notifier(const Notifier&) = delete;
    Notifier& operator=(const Notifier&) = delete;

    void post(core::Task task) override;
    /// Whether the caller runs on the notifier's thread, in a callback.
    [[nodiscard]] bool on_this_thread() const;

private:
    struct Queue;

    std::shared_ptr<Queue> queue_;
    std::jthread thread_{}; // guarded by the queue's mutex
};

} // namespace sessionq::detail::client
