// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include <sessionq/time.hpp>

namespace sessionq::dispatch {

/// How many workers a pool has.
struct WorkerBounds {
    unsigned least{1};
    unsigned most{1};
    /// There are more than the least while they are needed, and the most may change.
    bool adapts{true};

    [[nodiscard]] static constexpr WorkerBounds exactly(unsigned number) noexcept {
        return {.least = number, .most = number, .adapts = false};
    }
};

/// Signs of a pool whose work waits for a worker.
struct WorkerSigns {
    TimePoint now{};
    Duration processor_time{}; ///< The process has used so much so far.
    unsigned workers{0};
    std::size_t waiting{0}; ///< lanes and tasks
};

/// Decides how many workers to add. More are of use only if the processors have time left: then
/// those that are there wait for something. No clock.
class WorkerDemand {
public:
    /// The time between two looks. It is long enough to see whether the workers are busy, and so
    /// short that no work waits for long.
    static constexpr Duration look_again = std::chrono::milliseconds{2};
    /// The time to the next look if more workers would be of no use.
    static constexpr Duration look_later = std::chrono::milliseconds{20};

    /// `processors`: of the machine, at least 1.
    explicit WorkerDemand(unsigned processors) noexcept : processors_{processors} {}

    /// Work begins to wait.
    void begin(TimePoint now, Duration processor_time) noexcept {
        since_ = now;
        used_ = processor_time;
    }

    /// So many more, at most twice as many as there are, and no more than work that waits.
    [[nodiscard]] unsigned more(const WorkerSigns& signs, unsigned most) noexcept {
        const bool idle = leaves_time(signs);
        begin(signs.now, signs.processor_time);
        if (!idle || signs.workers >= most || signs.waiting == 0) {
            return 0;
        }
        const auto useful = static_cast<unsigned>(std::min<std::size_t>(signs.waiting, most));
        return std::min({useful, most - signs.workers, std::max(signs.workers, 1U)});
    }

private:
    /// Less than three quarters of the processors were used since the last look.
    [[nodiscard]] bool leaves_time(const WorkerSigns& signs) const noexcept {
        const Duration passed = signs.now - since_;
        return (signs.processor_time - used_) * 4 < passed * 3 * processors_;
    }

    unsigned processors_;
    TimePoint since_{};
    Duration used_{};
};

} // namespace sessionq::dispatch
