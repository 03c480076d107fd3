#pragma once

#include <future>
#include <memory>
#include <string>
#include <vector>

#include <sessionq/message_handler.hpp>
#include <sessionq/processor_options.hpp>
#include <sessionq/processor_report.hpp>

#include "client/client_core.hpp"
#include "client/notifier.hpp"
#include "dispatch/dispatcher.hpp"
#include "dispatch/worker_pool.hpp"
#include "processor/handlers.hpp"
#include "processor/processor.hpp"

namespace sessionq::dispatch {
class PoolContext;
}

namespace sessionq::client {

/// What a `SessionProcessor` owns: the processor proper, its workers and the client it lives on;
/// and the order in which they end.
class ProcessorRuntime {
public:
    ProcessorRuntime(std::shared_ptr<ClientCore> client, std::vector<std::string> entities,
                     ProcessorOptions options);
    /// Never hangs: what a handler that does not return still uses is left to a thread that waits
    /// for it.
    ~ProcessorRuntime();
    ProcessorRuntime(const ProcessorRuntime&) = delete;
    ProcessorRuntime& operator=(const ProcessorRuntime&) = delete;

    /// Where the handlers are registered; throws `invalid_state` once started.
    [[nodiscard]] processor::Handlers& handlers_before_start();
    void start();
    StopReport stop(Duration timeout) noexcept;
    void update_limits(const ConcurrencyLimits& limits);
    [[nodiscard]] ProcessorDescription describe() const;
    [[nodiscard]] ProcessorCounters counters() const noexcept;
    [[nodiscard]] const ProcessorOptions& options() const noexcept { return options_; }

private:
    /// What handlers use, directly or not. Ends after the last of them has returned.
    struct Engine {
        std::shared_ptr<ClientCore> client;
        dispatch::Dispatcher dispatcher{};
        Notifier notifier{};
        std::unique_ptr<dispatch::WorkerPool> pool{};
        std::unique_ptr<dispatch::PoolContext> coroutines{};
        std::future<void>
            emptied{}; ///< ready when the last handler has returned and nothing is left on any loop
        std::unique_ptr<processor::Processor> processor{}; ///< ends first, once `emptied`

        explicit Engine(std::shared_ptr<ClientCore> core);
        ~Engine();
    };

    StopReport stop_engine(Duration timeout);

    std::unique_ptr<Engine> engine_;
    const std::vector<std::string> entities_;
    const ProcessorOptions options_;
    processor::Handlers handlers_{};
};

} // namespace sessionq::client
