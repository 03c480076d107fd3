// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

#include <sessionq/operation_context.hpp>

namespace sessionq::simulation {

/// A stack on which a virtual worker runs a handler. An ordinary function can wait there for
/// virtual time although one operating system thread runs everything. Bound to the thread that made
/// it.
class Fiber {
public:
    Fiber();
    ~Fiber();
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    /// Runs `body` on the fiber until it pauses or ends. Requires idle().
    void start(std::function<void()> body);

    /// Continues after the pause.
    void resume();

    /// True if there is no body or it has ended.
    [[nodiscard]] bool idle() const noexcept { return !body_; }

    /// Called inside a body: returns to the caller of start or resume. The ambient operation
    /// context stays with the fiber.
    static void pause();

    /// The fiber that runs on this thread; null outside of fibers.
    [[nodiscard]] static Fiber* current() noexcept;

private:
    struct Machine;

    static void entry();
    void switch_in();

    std::unique_ptr<Machine> machine_;
    std::function<void()> body_;
    std::optional<OperationContext::Scope>
        ambient_; // the outermost scope of the fiber; its end leaves the thread clean
};

} // namespace sessionq::simulation
