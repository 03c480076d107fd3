// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <string>

#include "broker/broker.hpp"
#include "simulation/scheduler.hpp"

namespace sessionq::simulation {

/// Runs what is due in a broker, as the thread of its owner does.
class BrokerTime final : public Actor {
public:
    BrokerTime(Scheduler& scheduler, broker::Broker& broker)
        : scheduler_{&scheduler}, broker_{&broker} {
        broker.set_wakeup_listener([this] { is_stale_ = true; });
        scheduler.add(*this);
    }
    ~BrokerTime() override {
        scheduler_->remove(*this);
        broker_->set_wakeup_listener({});
    }

    [[nodiscard]] broker::Instant now() const noexcept {
        return {.now = scheduler_->now(), .wall = scheduler_->wall_now()};
    }

    [[nodiscard]] bool runnable() const override { return is_stale_ || due_ <= scheduler_->now(); }
    [[nodiscard]] TimePoint next_due() const override {
        return is_stale_ ? scheduler_->now() : due_;
    }
    [[nodiscard]] std::string name() const override { return "broker"; }
    void step() override {
        is_stale_ = false;
        broker_->advance(now());
        due_ = broker_->next_wakeup().value_or(TimePoint::max());
    }

private:
    Scheduler* scheduler_;
    broker::Broker* broker_;
    TimePoint due_{TimePoint::max()};
    bool is_stale_{false};
};

} // namespace sessionq::simulation
