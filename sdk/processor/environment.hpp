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

/// What a processor runs on, all of it injected: the product and the simulation differ only here.
/// Everything referred to outlives the processor.
struct Environment {
    std::vector<ports::Endpoint*> endpoints{}; ///< one a shard, each on its own loop
    dispatch::Dispatcher* dispatcher{nullptr}; ///< the lanes' way to the workers
    core::Executor* workers{nullptr};          ///< runs on_error
    core::Executor* notifier{nullptr}; ///< fires stop tokens, whose callbacks are user code:
                                       ///< neither a loop nor a worker that may be busy
    dispatch::CoroutineHost* coroutines{
        nullptr}; ///< where handlers that are coroutines run; null where there are none
    const core::Clock* clock{nullptr}; ///< read where a handler starts
    std::uint64_t seed{0};             ///< of jitter
    /// of a handler's operation on its session that has no deadline
    Duration operation_timeout{std::chrono::seconds{60}};
    /// How long a broker that is there may send nothing.
    Duration silence{std::chrono::seconds{60}};
    Tuning tuning{};
    /// Keeps all that this refers to. For messages that an application may keep longer.
    std::weak_ptr<const void> host{};
    /// Told once a processor that was started has stopped and its last handler has returned: on a
    /// loop, as the last thing that is done there. Then, and not before, it may be destroyed.
    std::function<void()> emptied{};
    core::TracingPtr tracing{};
    std::string client_id{}; ///< in metrics; empty: none
};

} // namespace sessionq::processor
