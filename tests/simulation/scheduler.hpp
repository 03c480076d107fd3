// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "core/random.hpp"
#include "simulation/trace.hpp"

namespace sessionq::simulation {

/// Anything that can take a step: a receive loop, a worker, a wire.
class Actor {
public:
    Actor() = default;
    Actor(const Actor&) = delete;
    Actor& operator=(const Actor&) = delete;
    virtual ~Actor() = default;

    [[nodiscard]] virtual bool runnable() const = 0;
    virtual void step() = 0;

    /// When it can act if nobody else does; TimePoint::max() is never.
    [[nodiscard]] virtual TimePoint next_due() const { return TimePoint::max(); }
    [[nodiscard]] virtual std::string name() const = 0;

    std::uint32_t weight{1}; ///< how often the seed chooses it, relative to the others
};

/// Virtual time, and who acts next. Everything happens in `step`. Time stands still while anybody
/// can act. The seed chooses among those who can.
class Scheduler final : public core::Clock {
public:
    Scheduler(std::uint64_t seed, Trace trace);

    [[nodiscard]] TimePoint now() const noexcept override { return now_; }
    [[nodiscard]] WallTime wall_now() const noexcept override;
    [[nodiscard]] TimePoint start() const noexcept { return start_; }
    [[nodiscard]] Duration elapsed() const noexcept { return now_ - start_; }
    [[nodiscard]] core::Random& random() noexcept { return random_; }
    [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }

    /// Returns true with a probability of `percent`.
    [[nodiscard]] bool chance(unsigned percent) noexcept { return random_.below(100) < percent; }
    /// Whole milliseconds, spread evenly over [low, high], so that ties in virtual time occur.
    [[nodiscard]] Duration between(Duration low, Duration high) noexcept;

    void add(Actor& actor) { actors_.push_back(&actor); }
    void remove(Actor& actor) noexcept;

    /// Runs `what` at `when`, as a step.
    void at(TimePoint when, std::function<void()> what);
    void after(Duration delay, std::function<void()> what) { at(now_ + delay, std::move(what)); }

    /// Takes one step, or advances time to the next one. Returns false if nobody can ever act.
    bool step();

    /// Called before time moves from now() to `next`.
    std::function<void(TimePoint next)> before_advance;

    template <typename... Parts>
    void trace(const Parts&... parts) {
        trace_.line(now_, start_, parts...);
    }
    [[nodiscard]] bool tracing() const noexcept { return trace_.on(); }

private:
    [[nodiscard]] Actor* choose();
    [[nodiscard]] TimePoint next_due() const;

    Trace trace_;
    core::Random random_;
    TimePoint start_;
    TimePoint now_;
    std::uint64_t steps_{0};
    std::vector<Actor*> actors_;
    std::multimap<TimePoint, std::function<void()>> events_;
};

} // namespace sessionq::simulation
