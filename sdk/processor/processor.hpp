// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <sessionq/metrics.hpp>
#include <sessionq/processor_options.hpp>
#include <sessionq/processor_report.hpp>

#include "processor/lifecycle.hpp"
#include "processor/shard.hpp"

namespace sessionq::detail::processor {

/// The processor below the public classes: one set of options, and one shard for each receive
/// thread. `ProcessorRuntime` makes a `Processor` at each start. It has no threads of its own: its
/// environment brings the loops and the workers.
///
/// A started processor must be stopped, and must live until `Environment::emptied` was called.
///
/// Thread safety: all members are safe from any thread.
class Processor {
public:
    /// Checks all arguments. Throws `invalid_option` with the name of the member, or
    /// `not_supported` with the name of the capability. No I/O.
    Processor(SessionProcessorOptions options, std::vector<std::string> entities, Handlers handlers,
              Environment environment, ports::Scope scope = ports::Scope::session);
    ~Processor() = default;
    Processor(const Processor&) = delete;
    Processor& operator=(const Processor&) = delete;

    /// Starts the shards. Throws `invalid_state` if the processor was started or stopped before.
    void start();

    using Stopped = std::function<void(const StopReport&)>;
    /// Stops by the deadline of `terms`, and then calls `stopped` on a loop or on this thread. A
    /// further call gets the same report. Never throws.
    void stop(const StopTerms& terms, Stopped stopped);

    /// Leaves all sessions and accepts none until `resume`. Takes effect soon. No effect on a
    /// paused processor. Throws `invalid_state` unless the processor was started and not stopped.
    void pause();
    /// Ends the pause. Takes effect and throws as `pause` does.
    void resume();

    /// Changes the limits. Takes effect soon. Returns the options with the limits that are in force
    /// from then on. Throws `invalid_option` with the name of the member. Throws `invalid_state` as
    /// `pause` does.
    SessionProcessorOptions update_limits(const SessionProcessorLimits& limits);

    using Described = std::function<void(ProcessorDescription)>;
    /// Asks every shard for its part of the description. `described` runs on the loop that answers
    /// last.
    void describe(Described described) const;

    /// Describes the processor at once. Only for the simulation, on its single loop.
    [[nodiscard]] ProcessorDescription describe_here() const;

    [[nodiscard]] const SessionProcessorOptions& options() const noexcept {
        return shared_->options;
    }
    /// Tells an error that is not of a shard.
    void report(ErrorContext context) const { shared_->report(std::move(context)); }
    [[nodiscard]] ProcessorCounters counters() const noexcept;
    /// Returns the measurements of all shards and the gauges of `described`. `described` is null if
    /// a receive thread did not answer. The health is failed then.
    [[nodiscard]] Metrics metrics(const ProcessorDescription* described) const;
    [[nodiscard]] ProcessorState state() const {
        const std::lock_guard lock{mutex_};
        return lifecycle_.state();
    }
    /// Whether the processor has stopped and no handler is left. `Environment::emptied` is called
    /// soon then.
    [[nodiscard]] bool ends_soon() const {
        const std::lock_guard lock{mutex_};
        return lifecycle_.ends_soon();
    }

private:
    void shard_stopped(const StopReport& report);
    void shard_gone();
    /// Runs `task(shard)` on the shard's loop, if the shard still exists.
    template <typename Task>
    static void on_loop(const std::shared_ptr<Shard>& shard, Task task);
    /// Runs `task` on the loop of each shard. If the caller holds `mutex_`, all shards get the
    /// requests of several threads in the same order.
    template <typename Task>
    void on_all_loops(Task task);
    void require_in_use(const char* function) const;
    void look_again();
    [[nodiscard]] static std::uint32_t share(std::uint32_t total, std::size_t index,
                                             std::size_t count) noexcept;

    std::shared_ptr<SharedState> shared_;
    std::vector<std::shared_ptr<Shard>> shards_{};
    mutable std::mutex mutex_{}; // guards the members below
    Lifecycle lifecycle_;
    SessionProcessorOptions in_force_{}; ///< the options with the limits that were set last
    std::vector<Stopped> stopped_{};
};

} // namespace sessionq::detail::processor
