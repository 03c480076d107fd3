// SPDX-License-Identifier: MIT
#include "core/clock.hpp"

#include <ctime>

#include <sessionq/deadline.hpp>

#include "core/processor_time.hpp"

namespace sessionq::core {
namespace {

class SystemClock final : public Clock {
public:
    [[nodiscard]] TimePoint now() const noexcept override {
        return std::chrono::steady_clock::now();
    }
    [[nodiscard]] TimePoint coarse_now() const noexcept override {
        timespec ticked{};
        clock_gettime(CLOCK_MONOTONIC_COARSE, &ticked); // the same time line as steady_clock
        return TimePoint{std::chrono::seconds{ticked.tv_sec} +
                         std::chrono::nanoseconds{ticked.tv_nsec}};
    }
    [[nodiscard]] WallTime wall_now() const noexcept override {
        return std::chrono::system_clock::now();
    }
};

} // namespace

const Clock& system_clock() noexcept {
    // Never destroyed: a thread stuck in a handler may read it until the process ends.
    static const SystemClock& clock = *new SystemClock;
    return clock;
}

Duration processor_time() noexcept {
    timespec used{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return std::chrono::seconds{used.tv_sec} + std::chrono::nanoseconds{used.tv_nsec};
}

} // namespace sessionq::core

namespace sessionq::inline v1 {

Deadline Deadline::in(Timeout length) noexcept { return after(length, core::system_clock().now()); }

} // namespace sessionq::inline v1
