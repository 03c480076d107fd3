// SPDX-License-Identifier: MIT
#include "simulation/sim_loop.hpp"

#include <algorithm>

namespace sessionq::simulation {

SimLoop::SimLoop(Scheduler& scheduler, int number)
    : scheduler_{&scheduler}, number_{number}, timers_{*this, scheduler.now()} {
    scheduler.add(*this);
}

SimLoop::~SimLoop() { scheduler_->remove(*this); }

void SimLoop::post(core::Task task) {
    tasks_.push_back({OperationContext::current(), std::move(task)});
}

void SimLoop::attach(core::Inbox& inbox) noexcept {
    inboxes_.attach(inbox);
    woken_ = true;
}

bool SimLoop::timers_due() const {
    const auto wakeup = timers_.next_wakeup();
    return wakeup && *wakeup <= scheduler_->now();
}

bool SimLoop::runnable() const {
    return scheduler_->now() >= stalled_until_ && (!tasks_.empty() || woken_ || timers_due());
}

TimePoint SimLoop::next_due() const {
    TimePoint due = timers_.next_wakeup().value_or(TimePoint::max());
    if (!tasks_.empty() || woken_) {
        due = scheduler_->now();
    }
    return due == TimePoint::max() ? due : std::max(due, stalled_until_);
}

std::string SimLoop::name() const { return "loop" + std::to_string(number_); }

void SimLoop::run_now(const std::function<void()>& what) {
    running_ = true;
    what();
    running_ = false;
}

void SimLoop::step() {
    enum Choice { run_task, drain_inboxes, expire_timers };
    std::array<Choice, 3> choices{};
    std::size_t count = 0;
    if (!tasks_.empty()) {
        choices[count++] = run_task;
    }
    if (woken_) {
        choices[count++] = drain_inboxes;
    }
    if (timers_due()) {
        choices[count++] = expire_timers;
    }
    running_ = true;
    switch (choices[scheduler_->random().below(count)]) {
    case run_task: {
        Posted posted = std::move(tasks_.front());
        tasks_.pop_front();
        const OperationContext::Scope scope{std::move(posted.context)};
        posted.task();
        break;
    }
    case drain_inboxes:
        woken_ = false;
        inboxes_.drain_all();
        break;
    case expire_timers: timers_.advance(scheduler_->now()); break;
    }
    running_ = false;
}

} // namespace sessionq::simulation
