#include "core/clock.hpp"

#include <ctime>

namespace sessionq::core {
namespace {

class SystemClock final : public Clock {
public:
    [[nodiscard]] TimePoint now() const noexcept override {
        return std::chrono::steady_clock::now();
    }
    [[nodiscard]] TimePoint coarse_now() const noexcept override {
        timespec ticked{};
        clock_gettime(CLOCK_MONOTONIC_COARSE, &ticked); // the time line of steady_clock
        return TimePoint{std::chrono::seconds{ticked.tv_sec} +
                         std::chrono::nanoseconds{ticked.tv_nsec}};
    }
    [[nodiscard]] WallTime wall_now() const noexcept override {
        return std::chrono::system_clock::now();
    }
};

} // namespace

const Clock& system_clock() noexcept {
    // Never destroyed: threads that a handler keeps from ending may read it until the very end of the process.
    static const SystemClock& clock = *new SystemClock;
    return clock;
}

} // namespace sessionq::core
