// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <string>

#include <sessionq/operation_context.hpp>

#include "core/executor.hpp"
#include "simulation/scheduler.hpp"

namespace sessionq::simulation {

/// Another thread that runs tasks in order, one a step.
class SimExecutor final : public core::Executor, public Actor {
public:
    SimExecutor(Scheduler& scheduler, std::string name)
        : scheduler_{&scheduler}, name_{std::move(name)} {
        scheduler.add(*this);
    }
    ~SimExecutor() override { scheduler_->remove(*this); }

    void post(core::Task task) override {
        tasks_.push_back({OperationContext::current(), std::move(task)});
    }

    [[nodiscard]] bool runnable() const override { return !tasks_.empty(); }
    [[nodiscard]] TimePoint next_due() const override {
        return tasks_.empty() ? TimePoint::max() : scheduler_->now();
    }
    [[nodiscard]] std::string name() const override { return name_; }

    void step() override {
        Posted posted = std::move(tasks_.front());
        tasks_.pop_front();
        const OperationContext::Scope scope{std::move(posted.context)};
        posted.task();
    }

private:
    struct Posted {
        OperationContext context;
        core::Task task;
    };

    Scheduler* scheduler_;
    std::string name_;
    std::deque<Posted> tasks_;
};

} // namespace sessionq::simulation
