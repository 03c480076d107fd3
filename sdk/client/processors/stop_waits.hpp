// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include <sessionq/processor_report.hpp>

namespace sessionq::detail::client {

/// The callers that wait for the stop of a run. `ProcessorRuntime` tells of the stop, and its
/// `wait` adds the callers. Both share the object, because a caller may give up after the run.
/// Thread-safe.
class StopWaits {
public:
    using Told = std::function<void(const StopReport&)>;

    /// Calls `told` once, when the run stops: on the thread that tells, or at once on this thread
    /// if it has stopped. Returns the number for `forget`.
    std::uint64_t add(Told told) {
        std::unique_lock lock{mutex_};
        const std::uint64_t number = ++last_;
        if (!report_) {
            waiting_.emplace(number, std::move(told));
            return number;
        }
        const StopReport report = *report_;
        lock.unlock();
        told(report);
        return number;
    }

    /// Destroys the function of a caller that waits no more. No effect if it was called.
    void forget(std::uint64_t number) {
        std::unique_lock lock{mutex_};
        const auto forgotten = waiting_.extract(number);
        lock.unlock(); // the function may answer its caller when it is destroyed
    }

    /// The run has stopped. Only the first call has an effect.
    void tell(const StopReport& report) {
        std::unique_lock lock{mutex_};
        if (report_) {
            return;
        }
        report_ = report;
        const auto told = std::exchange(waiting_, {});
        lock.unlock();
        for (const auto& [number, each] : told) {
            each(report);
        }
    }

private:
    std::mutex mutex_{};
    std::uint64_t last_{0};
    std::map<std::uint64_t, Told> waiting_{};
    std::optional<StopReport> report_{}; ///< set: it has stopped
};

} // namespace sessionq::detail::client
