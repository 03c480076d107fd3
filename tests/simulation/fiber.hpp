#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

#include <sessionq/operation_context.hpp>

namespace sessionq::simulation {

/// A stack of its own, on which a virtual worker runs a handler: so that an ordinary function can
/// take virtual time in the middle while one operating system thread runs everything. Bound to the
/// thread that made it.
class Fiber {
public:
    Fiber();
    ~Fiber();
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    /// Runs `body` on the fiber until it pauses or ends. Only while idle().
    void start(std::function<void()> body);

    /// Runs on from where it paused.
    void resume();

    /// No body, or it has ended.
    [[nodiscard]] bool idle() const noexcept { return !body_; }

    /// From inside a body: back to whoever started or resumed the fiber. The ambient operation
    /// context stays with the fiber.
    static void pause();

    /// The one that runs on this thread now, null outside.
    [[nodiscard]] static Fiber* current() noexcept;

private:
    struct Machine;

    static void entry();
    void switch_in();

    std::unique_ptr<Machine> machine_;
    std::function<void()> body_;
    std::optional<OperationContext::Scope>
        ambient_; // always the outermost scope of the fiber: ending it leaves the thread clean
};

} // namespace sessionq::simulation
