#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/clock.hpp"
#include "core/executor.hpp"
#include "dispatch/dispatcher.hpp"
#include "ports/endpoint.hpp"
#include "processor/tuning.hpp"

namespace sessionq::dispatch {
class PoolContext;
}

namespace sessionq::processor {

/// What a processor runs on, all of it injected: the product and the simulation differ only here.
/// Everything referred to lives as long as `keep_alive`.
struct Environment {
    std::vector<ports::Endpoint*> endpoints{}; ///< one a shard, each on its own loop
    dispatch::Dispatcher* dispatcher{nullptr}; ///< the lanes' way to the workers
    core::Executor* workers{nullptr};          ///< runs on_error
    core::Executor* notifier{nullptr}; ///< fires stop tokens, whose callbacks are user code:
                                       ///< neither a loop nor a worker that may be busy
    dispatch::PoolContext* coroutines{
        nullptr}; ///< where handlers that are coroutines run; null where there are none
    const core::Clock* clock{nullptr}; ///< read where a handler starts
    std::uint64_t seed{0};             ///< of jitter
    Tuning tuning{};
    std::shared_ptr<void> keep_alive{};
};

} // namespace sessionq::processor
