// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <functional>
#include <string>

#include "simulation/scheduler.hpp"

namespace sessionq::simulation {

/// One direction of a wire. Bytes arrive after their latency and in order. Each arrival is a step.
class Channel final : public Actor {
public:
    Channel(Scheduler& scheduler, std::string name)
        : scheduler_{&scheduler}, name_{std::move(name)} {
        scheduler.add(*this);
    }
    ~Channel() override { scheduler_->remove(*this); }

    void send(Duration latency, std::function<void()> arrival) {
        const TimePoint due = scheduler_->now() + latency;
        items_.push_back(
            {items_.empty() ? due : std::max(due, items_.back().due), std::move(arrival)});
    }

    /// Cuts the wire and loses what is under way.
    void cut() noexcept { items_.clear(); }

    [[nodiscard]] bool empty() const noexcept { return items_.empty(); }
    [[nodiscard]] bool runnable() const override {
        return !items_.empty() && items_.front().due <= scheduler_->now();
    }
    [[nodiscard]] TimePoint next_due() const override {
        return items_.empty() ? TimePoint::max() : items_.front().due;
    }
    [[nodiscard]] std::string name() const override { return name_; }

    void step() override {
        const std::function<void()> arrival = std::move(items_.front().arrival);
        items_.pop_front();
        arrival();
    }

private:
    struct Item {
        TimePoint due;
        std::function<void()> arrival;
    };

    Scheduler* scheduler_;
    std::string name_;
    std::deque<Item> items_;
};

} // namespace sessionq::simulation
