// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "core/executor.hpp"
#include "core/tracing.hpp"
#include "dispatch/dispatcher.hpp"
#include "ports/endpoint.hpp"
#include "processor/tuning.hpp"

namespace sessionq::dispatch {
class CoroutineHost;
}

namespace sessionq::processor {

/// The surroundings that a processor gets when it is made: loops, workers, clock.
/// `ProcessorRuntime` fills them for an application, the simulation for its tests. The two differ
/// only here. Everything referred to outlives the processor.
struct Environment {
    std::vector<ports::Endpoint*> endpoints{}; ///< one for each shard, each on its own loop
    dispatch::Dispatcher* dispatcher{nullptr}; ///< makes lanes and gives their calls to the workers
    core::Executor* workers{nullptr};          ///< runs on_error
    core::Executor* notifier{nullptr}; ///< fires stop tokens. Their callbacks are user code, so it
                                       ///< is neither a loop nor a worker that may be busy
    dispatch::CoroutineHost* coroutines{
        nullptr}; ///< runs handlers that are coroutines; null: there are none
    const core::Clock* clock{
        nullptr};          ///< for the instants that workers take, and for wall-clock time
    std::uint64_t seed{0}; ///< for jitter
    /// The timeout of an operation on a session without a deadline: of a handler, or for the
    /// session's record.
    Duration operation_timeout{std::chrono::seconds{60}};
    /// A connected broker that sends nothing for so long counts as silent.
    Duration silence{std::chrono::seconds{60}};
    Tuning tuning{};
    /// Lock it to keep alive everything that this struct refers to. `HandlerSession` does, because
    /// an application may keep messages longer than the processor.
    std::weak_ptr<const void> host{};
    /// Called once, after a started processor has stopped and its last handler has returned. It is
    /// the last thing done on its loop. The processor may be destroyed from then on, and not
    /// before.
    std::function<void()> emptied{};
    core::TracingPtr tracing{};
    std::string client_id{}; ///< the client's name in metrics; empty: none
};

} // namespace sessionq::processor
