// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <sessionq/metrics.hpp>
#include <sessionq/processor_options.hpp>
#include <sessionq/processor_report.hpp>

#include "processor/lifecycle.hpp"
#include "processor/shard.hpp"

namespace sessionq::processor {

/// A session processor without threads of its own: shards on the loops of its environment, one set
/// of options. The public class adds a worker pool.
///
/// Once started it must be stopped, and lives until `Environment::emptied` was called.
///
/// Thread safety: all members are safe from any thread.
class Processor {
public:
    /// Checks everything; throws `invalid_option` naming the member, `not_supported` naming the
    /// capability. No I/O.
    Processor(ProcessorOptions options, std::vector<std::string> entities, Handlers handlers,
              Environment environment, ports::Scope scope = ports::Scope::session);
    ~Processor() = default;
    Processor(const Processor&) = delete;
    Processor& operator=(const Processor&) = delete;

    /// Once; else throws `invalid_state`.
    void start();

    using Stopped = std::function<void(const StopReport&)>;
    /// Ends by the deadline and then tells, on a loop or on this thread. Asked again it tells the
    /// same. Never throws.
    void stop(const StopTerms& terms, Stopped stopped);

    /// All sessions are left and none is accepted, until `resume`. Takes effect soon. No effect on
    /// a paused processor. Throws `invalid_state` unless it was started and not stopped.
    void pause();
    /// Ends the pause. Otherwise as `pause`.
    void resume();

    /// Throws `invalid_option` naming the member, else as `pause`. Takes effect soon. Returns the
    /// options with all limits that are in force then.
    ProcessorOptions update_limits(const ConcurrencyLimits& limits);

    using Described = std::function<void(ProcessorDescription)>;
    /// Asks every loop; `described` runs on the last of them that answers.
    void describe(Described described) const;

    /// On the only loop there is (the simulation's): at once.
    [[nodiscard]] ProcessorDescription describe_here() const;

    [[nodiscard]] const ProcessorOptions& options() const noexcept { return shared_->options; }
    [[nodiscard]] ProcessorCounters counters() const noexcept;
    /// What all shards have measured, beside the gauges of `described`.
    [[nodiscard]] Metrics metrics(const ProcessorDescription* described) const;
    [[nodiscard]] ProcessorDescription::State state() const {
        const std::lock_guard lock{mutex_};
        return lifecycle_.state();
    }
    /// It has stopped, and `Environment::emptied` is called without waiting for a handler.
    [[nodiscard]] bool ends_soon() const {
        const std::lock_guard lock{mutex_};
        return lifecycle_.ends_soon();
    }

private:
    void shard_stopped(const StopReport& report);
    void shard_gone();
    /// Runs `task(shard)` on the shard's loop, if the shard is still there.
    template <typename Task>
    static void on_loop(const std::shared_ptr<Shard>& shard, Task task);
    /// With `mutex_` held, all shards are told what several threads ask in the same order.
    template <typename Task>
    void on_all_loops(Task task);
    void require_in_use(const char* function) const;
    void look_again();
    [[nodiscard]] static std::uint32_t share(std::uint32_t total, std::size_t index,
                                             std::size_t count) noexcept;

    std::shared_ptr<SharedState> shared_;
    std::vector<std::shared_ptr<Shard>> shards_{};
    mutable std::mutex mutex_{}; // guards what follows
    Lifecycle lifecycle_;
    ProcessorOptions in_force_{}; ///< with the limits that were set last
    std::vector<Stopped> stopped_{};
};

} // namespace sessionq::processor
