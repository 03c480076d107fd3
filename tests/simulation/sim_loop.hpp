// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <functional>

#include <sessionq/operation_context.hpp>

#include "core/event_loop.hpp"
#include "simulation/scheduler.hpp"
#include "timing/timer_service.hpp"

namespace sessionq::simulation {

/// A receive thread in virtual time. A step runs one posted task, drains the inboxes once, or fires
/// the timers that are due.
class SimLoop final : public core::EventLoop, public Actor {
public:
    SimLoop(Scheduler& scheduler, int number);
    ~SimLoop() override;

    void post(core::Task task) override;
    [[nodiscard]] TimePoint now() const noexcept override { return scheduler_->now(); }
    [[nodiscard]] WallTime wall_now() const noexcept override { return scheduler_->wall_now(); }
    [[nodiscard]] timing::TimerService& timers() noexcept override { return timers_; }
    [[nodiscard]] bool on_this_thread() const noexcept override { return running_; }
    void attach(core::Inbox& inbox) noexcept override;
    void detach(core::Inbox& inbox) noexcept override { core::InboxSet::detach(inbox); }
    void wake() noexcept override { woken_ = true; }

    [[nodiscard]] bool runnable() const override;
    void step() override;
    [[nodiscard]] TimePoint next_due() const override;
    [[nodiscard]] std::string name() const override;

    /// Runs `what` on this thread, between two of its steps.
    void run_now(const std::function<void()>& what);

    /// The thread does not run until then.
    void stall_until(TimePoint when) noexcept { stalled_until_ = when; }

    [[nodiscard]] bool quiet() const noexcept { return tasks_.empty() && !woken_; }

private:
    struct Posted {
        OperationContext context;
        core::Task task;
    };

    [[nodiscard]] bool timers_due() const;

    Scheduler* scheduler_;
    int number_;
    bool running_{false};
    bool woken_{false};
    TimePoint stalled_until_{};
    std::deque<Posted> tasks_;
    timing::TimerService timers_;
    core::InboxSet inboxes_;
};

} // namespace sessionq::simulation
