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

namespace sessionq::detail::processor {

/// The loops, workers and clock that a processor gets when it is made. `ProcessorRuntime` fills the
/// struct for an application. The simulation fills it for its tests, and differs from the product
/// only here. All objects that the struct refers to outlive the processor.
struct Environment {
    std::vector<ports::Endpoint*> endpoints{}; ///< one for each shard, each on its own loop
    dispatch::Dispatcher* dispatcher{nullptr}; ///< makes lanes and gives their calls to the workers
    core::Executor* workers{nullptr};          ///< runs on_error, but for errors of the executor
    core::Executor* notifier{nullptr}; ///< fires stop tokens. Their callbacks are user code, so the
                                       ///< notifier is neither a loop nor a busy worker
    dispatch::CoroutineHost* coroutines{
        nullptr}; ///< runs handlers that are coroutines; null: there are none
    const core::Clock* clock{
        nullptr};          ///< for the instants that workers take, and for wall-clock time
    std::uint64_t seed{0}; ///< for jitter
    /// The timeout of a handler's operation on its session, if the operation has no deadline. Also
    /// the timeout of reading and writing the session's record.
    Duration operation_timeout{std::chrono::seconds{60}};
    /// A connected broker that sends nothing for so long counts as silent.
    Duration silence{std::chrono::seconds{60}};
    Tuning tuning{};
    /// Lock it to keep alive everything that this struct refers to. `HandlerSession` locks it,
    /// because an application may keep messages after the processor is gone.
    std::weak_ptr<const void> host{};
    /// Called once, after a started processor has stopped and its last handler has returned. The
    /// call is the processor's last work on a loop. The processor may be destroyed from this call
    /// on, and not before.
    std::function<void()> emptied{};
    core::TracingPtr tracing{};
    std::string client_id{}; ///< the client's name in metrics; empty: none
};

} // namespace sessionq::detail::processor
