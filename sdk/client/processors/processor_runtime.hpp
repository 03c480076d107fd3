// SPDX-License-Identifier: MIT
#pragma once

#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <sessionq/message_handler.hpp>
#include <sessionq/processor_options.hpp>
#include <sessionq/processor_report.hpp>

#include "client/calls/operation.hpp"
#include "client/connecting/client_core.hpp"
#include "client/processors/describe_endpoint.hpp"
#include "client/processors/stop_waits.hpp"
#include "client/threads/notifier.hpp"
#include "dispatch/coroutine_host.hpp"
#include "dispatch/dispatcher.hpp"
#include "dispatch/workers.hpp"
#include "processor/handlers.hpp"
#include "processor/processor.hpp"

namespace sessionq::detail::client {

/// Starts and stops a processor. Each `SessionProcessor` and `Processor` has a runtime, and passes
/// all its calls to it. The runtime owns the objects that the processor needs from a start to a
/// stop, and ends them in order. After a stop, the processor may start again.
///
/// Thread safety: all members are safe from any thread, except `handlers_before_start`.
class ProcessorRuntime {
public:
    /// `scope` says which messages each link of the processor holds.
    ProcessorRuntime(std::shared_ptr<ClientCore> client, std::vector<std::string> entities,
                     SessionProcessorOptions options, ports::Scope scope = ports::Scope::session);
    /// Never hangs: waits for some seconds at most. If a handler has not returned by then, another
    /// thread takes over the objects that the handler uses, and waits for the handler.
    ~ProcessorRuntime();
    ProcessorRuntime(const ProcessorRuntime&) = delete;
    ProcessorRuntime& operator=(const ProcessorRuntime&) = delete;

    /// Returns the handlers of the next start. Throws `invalid_state` from a start until the end of
    /// the next stop. Must not run at the same time as `start`.
    [[nodiscard]] processor::Handlers& handlers_before_start();
    /// Starts a run. Throws `invalid_state` if the run before has not stopped yet, or if one of its
    /// handlers has not returned.
    void start();
    StopReport stop(const StopOptions& options) noexcept;
    /// Requests the stop, and makes the call that ends with it.
    [[nodiscard]] PublicCall<StopReport> begin_stop(const StopOptions& options);
    [[nodiscard]] ProcessorState state() const;
    /// Makes the operation that ends when the current run has stopped. Throws `invalid_state`
    /// before the first start, and in a callback of the run.
    [[nodiscard]] Operation<StopReport> wait(const CallOptions& call) const;
    [[nodiscard]] const SessionProcessorOptions& options() const noexcept { return options_; }
    [[nodiscard]] ProcessorDescription describe() const;
    [[nodiscard]] ProcessorCounters counters() const noexcept;
    [[nodiscard]] Metrics metrics() const;
    /// `pause`, `resume` and `update_limits` throw `invalid_state` before the start and after a
    /// stop. `describe`, `counters` and `metrics` tell of the last start.
    void pause();
    void resume();
    void update_limits(const SessionProcessorLimits& limits);

private:
    /// Everything that handlers may use between a start and a stop. The run ends after the last
    /// handler has returned. Its last owner may be any thread, also one of its own workers.
    struct Run {
        std::shared_ptr<ClientCore> client;
        dispatch::Dispatcher dispatcher{};
        Notifier notifier{};
        std::unique_ptr<dispatch::Workers> workers{};
        std::unique_ptr<dispatch::CoroutineHost> coroutines{};
        std::shared_ptr<StopWaits> stop_waits{std::make_shared<StopWaits>()};
        std::future<void> emptied{}; ///< ready when the processor has left all loops
        std::unique_ptr<processor::Processor> processor{}; ///< ends first, once `emptied`

        explicit Run(std::shared_ptr<ClientCore> core) : client{std::move(core)} {}
        /// Whether the caller is a handler or another callback of the processor. A stop waits for
        /// these, so they must not wait for the stop.
        [[nodiscard]] bool calls_back() const {
            return workers->on_worker_thread() || notifier.on_this_thread();
        }
        /// Waits for the workers, because a worker that ends a coroutine uses `coroutines` a little
        /// longer than its message.
        ~Run();
        Run(const Run&) = delete;
        Run& operator=(const Run&) = delete;
    };
    using RunPtr = std::shared_ptr<Run>;

    /// Null before the first start.
    [[nodiscard]] RunPtr current() const {
        const std::lock_guard lock{mutex_};
        return run_;
    }
    /// Returns the current run. Throws `invalid_state` before the first start.
    [[nodiscard]] RunPtr started() const;
    /// Returns nothing if a receive thread does not answer within a second.
    [[nodiscard]] static std::optional<ProcessorDescription> described(const Run& run);
    /// Makes the operation that ends when the run has stopped.
    [[nodiscard]] Operation<StopReport> wait_for(const Run& run, Deadline deadline,
                                                 OperationContext context) const;
    void require_startable() const;
    void open_describe_socket();
    /// Returns the JSON document that the describe socket sends.
    [[nodiscard]] std::string document() const;
    [[nodiscard]] RunPtr make_run() const;
    [[nodiscard]] std::unique_ptr<dispatch::Workers> make_workers(Run& run) const;

    const std::shared_ptr<ClientCore> client_;
    const std::vector<std::string> entities_;
    const bool adapts_workers_; ///< the application set no number of workers
    const SessionProcessorOptions options_;
    const ports::Scope scope_;
    processor::Handlers handlers_{};
    std::mutex starting_{}; ///< one start at a time
    mutable std::mutex mutex_{};
    RunPtr run_{}; ///< guarded by `mutex_`
    /// Exists from the first start on, if `describe_socket` is set. Last, because its thread uses
    /// the members above.
    std::unique_ptr<DescribeEndpoint> endpoint_{};
};

} // namespace sessionq::detail::client
