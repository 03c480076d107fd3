#include "core/clock.hpp"

namespace sessionq::core {
namespace {

class SystemClock final : public Clock {
public:
    [[nodiscard]] TimePoint now() const noexcept override { return std::chrono::steady_clock::now(); }
    [[nodiscard]] WallTime wall_now() const noexcept override { return std::chrono::system_clock::now(); }
};

} // namespace

const Clock& system_clock() noexcept {
    static const SystemClock clock;
    return clock;
}

} // namespace sessionq::core
