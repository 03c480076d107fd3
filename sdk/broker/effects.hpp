// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "broker/browser_target.hpp"
#include "broker/consumer_target.hpp"

namespace sessionq::broker {

/// The notifications to consumers and browsers that result from an operation on an entity.
/// Collected under the entity's lock, then delivered in order without it.
class Effects {
public:
    void accepted(std::shared_ptr<ConsumerTarget> target, ConsumerPtr consumer) {
        pending_.push_back({std::move(target), std::move(consumer), {}, {}});
    }
    void refused(std::shared_ptr<ConsumerTarget> target, Failure why) {
        pending_.push_back({std::move(target), {}, std::make_unique<Failure>(std::move(why)), {}});
    }
    void work(std::shared_ptr<ConsumerTarget> target) {
        pending_.push_back({std::move(target), {}, {}, {}});
    }
    void lost(std::shared_ptr<ConsumerTarget> target, Failure why) {
        pending_.push_back({std::move(target), {}, {}, std::make_unique<Failure>(std::move(why))});
    }

    void browsable(std::shared_ptr<BrowserTarget> target) {
        browsers_.push_back({std::move(target), {}});
    }
    void deleted(std::shared_ptr<BrowserTarget> target, Failure why) {
        browsers_.push_back({std::move(target), std::make_unique<Failure>(std::move(why))});
    }

    void swap(Effects& other) noexcept {
        pending_.swap(other.pending_);
        browsers_.swap(other.browsers_);
    }

    void deliver() noexcept {
        for (Effect& effect : pending_) {
            if (effect.consumer) {
                effect.target->on_accepted(std::move(effect.consumer));
            } else if (effect.refusal) {
                effect.target->on_refused(std::move(*effect.refusal));
            } else if (effect.loss) {
                effect.target->on_lost(std::move(*effect.loss));
            } else {
                effect.target->notify_work();
            }
        }
        pending_.clear();
        for (Browsed& one : browsers_) {
            if (one.deletion) {
                one.target->on_deleted(std::move(*one.deletion));
            } else {
                one.target->notify_message();
            }
        }
        browsers_.clear();
    }

private:
    struct Effect {
        std::shared_ptr<ConsumerTarget> target;
        ConsumerPtr consumer;
        std::unique_ptr<Failure> refusal;
        std::unique_ptr<Failure> loss;
    };

    struct Browsed {
        std::shared_ptr<BrowserTarget> target;
        std::unique_ptr<Failure> deletion;
    };

    std::vector<Effect> pending_;
    std::vector<Browsed> browsers_; // told after the consumers
};

} // namespace sessionq::broker
