#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include <sessionq/deadline.hpp>

#include "core/clock.hpp"
#include "core/executor.hpp"
#include "dispatch/dispatcher.hpp"

namespace sessionq::dispatch {

/// Threads that run what a dispatcher hands out, and tasks such as resumptions of coroutines. A
/// worker takes turns between the two, a quantum each, so that neither starves the other. Handlers
/// run here and nowhere else; sleeping workers cost nothing.
///
/// Thread-safe, but for destruction.
class WorkerPool final : public core::Executor {
public:
    /// Starts `threads` workers named "sessionq-work", at least 1 (else throws `invalid_option`).
    /// Becomes the one whom `dispatcher` wakes. `clock` outlives every worker. `last_patience` is
    /// for the destructor.
    WorkerPool(Dispatcher& dispatcher, const core::Clock& clock, unsigned threads,
               Duration last_patience = std::chrono::seconds{2});

    /// Stops, waits up to `last_patience`, and leaves a worker whose handler does not return to
    /// itself: it ends when the handler does.
    ~WorkerPool() override;
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    /// After `stop` the task is destroyed unrun, inside this call. What a task throws is logged.
    void post(core::Task task) override;

    /// Nothing starts any more: calls stay in their lanes, queued tasks are destroyed unrun. Waits
    /// until the handlers that run have returned, at most until the deadline. Returns how many
    /// workers are left in a handler, the calling one not counted. May be called again, and from
    /// inside a handler.
    unsigned stop(Deadline deadline);

    /// Whether the caller is one of this pool's workers.
    [[nodiscard]] bool on_worker_thread() const noexcept;

    [[nodiscard]] unsigned threads() const noexcept {
        return static_cast<unsigned>(workers_.size());
    }

    /// Workers that sleep now.
    [[nodiscard]] std::size_t asleep() const noexcept;

private:
    struct State;

    Duration last_patience_;
    std::shared_ptr<State> state_;
    std::vector<std::thread> workers_;
};

} // namespace sessionq::dispatch
