// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dispatch/dispatcher.hpp"
#include "simulation/environment.hpp"
#include "simulation/fiber.hpp"

namespace sessionq::simulation {

/// A worker thread in virtual time. It takes a call, runs it and reports it in separate steps, and
/// a running handler can wait. It sleeps and wakes as the product's workers do, so a missing
/// wake-up shows.
class VirtualWorker final : public Actor {
public:
    VirtualWorker(Environment& environment, dispatch::Dispatcher& dispatcher, std::size_t number);
    ~VirtualWorker() override;

    [[nodiscard]] bool runnable() const override;
    void step() override;
    [[nodiscard]] TimePoint next_due() const override;
    [[nodiscard]] std::string name() const override { return "worker" + std::to_string(number_); }

    [[nodiscard]] bool asleep() const noexcept { return state_ == State::asleep; }
    void wake() noexcept { state_ = State::looking; }
    [[nodiscard]] bool busy() const noexcept {
        return state_ == State::taken || state_ == State::running || state_ == State::returned;
    }

    /// The worker that takes a step now; null if another actor does.
    [[nodiscard]] static VirtualWorker* current() noexcept;

    /// The number of the call that runs, in `TakenCalls`.
    [[nodiscard]] std::uint64_t call() const noexcept { return number_of_call_; }

    /// Called inside a handler: waits until `when`, or until `condition` holds if there is one.
    void wait(TimePoint when, std::function<bool()> condition = {});

private:
    enum class State { looking, asleep, taken, running, returned };

    void taken(dispatch::Call* call);
    void look();

    Environment* environment_;
    dispatch::Dispatcher* dispatcher_;
    std::size_t number_;
    State state_{State::looking};
    dispatch::Dispatcher::Turn turn_{};
    dispatch::Call* call_{nullptr};
    std::uint64_t number_of_call_{0};
    dispatch::Verdict verdict_{};
    TimePoint wait_until_{};
    std::function<bool()> condition_{};
    Fiber fiber_{};
};

/// The workers of a world.
class VirtualPool {
public:
    VirtualPool(Environment& environment, dispatch::Dispatcher& dispatcher, std::size_t workers);

    [[nodiscard]] bool any_busy() const;

    /// No worker runs, until `thaw`.
    void freeze();
    void thaw();

private:
    void wake(std::size_t work);

    Environment* environment_;
    std::vector<std::unique_ptr<VirtualWorker>> workers_;
};

} // namespace sessionq::simulation
