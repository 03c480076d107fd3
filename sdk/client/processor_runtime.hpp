// SPDX-License-Identifier: MIT
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
#include "dispatch/pool_executor.hpp"
#include "dispatch/worker_pool.hpp"
#include "processor/handlers.hpp"
#include "processor/processor.hpp"

namespace sessionq::client {

/// Owns the processor, its workers and its client, and ends them in order.
class ProcessorRuntime {
public:
    /// `scope`: what each link of the processor holds.
    ProcessorRuntime(std::shared_ptr<ClientCore> client, std::vector<std::string> entities,
                     ProcessorOptions options, ports::Scope scope = ports::Scope::session);
    /// Never hangs. If a handler does not return, another thread keeps what it uses and waits for
    /// it.
    ~ProcessorRuntime();
    ProcessorRuntime(const ProcessorRuntime&) = delete;
    ProcessorRuntime& operator=(const ProcessorRuntime&) = delete;

    /// The handlers. Throws `invalid_state` after the start.
    [[nodiscard]] processor::Handlers& handlers_before_start();
    void start();
    StopReport stop(const StopOptions& options) noexcept;
    [[nodiscard]] const ProcessorOptions& options() const noexcept { return options_; }
    [[nodiscard]] ProcessorDescription describe() const;
    [[nodiscard]] ProcessorCounters counters() const noexcept;
    /// The three throw `invalid_state` before the start and after a stop.
    void pause();
    void resume();
    void update_limits(const ConcurrencyLimits& limits);

    /// Null before the start.
    [[nodiscard]] processor::Processor* processor() const noexcept {
        return engine_->processor.get();
    }

private:
    [[nodiscard]] processor::Processor& started() const;

    /// Everything handlers may use. Ends after the last handler has returned.
    struct Engine {
        std::shared_ptr<ClientCore> client;
        dispatch::Dispatcher dispatcher{};
        Notifier notifier{};
        std::unique_ptr<dispatch::WorkerPool> pool{};
        std::unique_ptr<dispatch::PoolContext> coroutines{};
        std::future<void> emptied{}; ///< ready when the processor has left all loops
        std::unique_ptr<processor::Processor> processor{}; ///< ends first, once `emptied`

        explicit Engine(std::shared_ptr<ClientCore> core) : client{std::move(core)} {}
    };

    std::unique_ptr<Engine> engine_;
    const std::vector<std::string> entities_;
    const ProcessorOptions options_;
    const ports::Scope scope_;
    processor::Handlers handlers_{};
};

} // namespace sessionq::client
