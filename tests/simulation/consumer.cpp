// SPDX-License-Identifier: MIT
#include "simulation/consumer.hpp"

#include <algorithm>

namespace sessionq::simulation {

Consumer::Consumer(Stage& stage, Expectations& expectations, const Setup& setup)
    : stage_{&stage},
      setup_{&setup},
      callbacks_{stage.scheduler(), "callbacks"},
      notifier_{stage.scheduler(), "notifier"},
      pool_{stage.environment(), dispatcher_, setup.workers},
      application_{stage.environment(), expectations} {}

void Consumer::start(SpanWatch* spans) {
    detail::processor::Environment surroundings;
    surroundings.endpoints = stage_->endpoints();
    surroundings.dispatcher = &dispatcher_;
    surroundings.workers = &callbacks_;
    surroundings.notifier = &notifier_;
    surroundings.host = host_;
    surroundings.clock = &stage_->scheduler();
    surroundings.seed = stage_->scheduler().random().next();
    surroundings.emptied = [this] { emptied_ = true; };
    if (spans != nullptr && surroundings.seed % 2 != 0) {
        surroundings.tracing = spans->trace(stage_->scheduler());
    }
    detail::processor::Handlers handlers = application_.handlers({.batches = setup_->batches,
                                                                  .coroutines = setup_->coroutines,
                                                                  .open = setup_->open_handler,
                                                                  .close = setup_->close_handler});
    if (setup_->quiet) {
        handlers.health_changed = [this](const Health& health) {
            // With a max_hold of its own the application decides for how long sessions wait.
            const bool may_wait = setup_->options.max_hold.has_value();
            if (may_wait && std::ranges::all_of(health.reasons, [](const HealthReason& each) {
                    return each.cause == HealthCause::sessions_waiting;
                })) {
                return;
            }
            stage_->environment().verdict.report("(s) health",
                                                 "a false alarm: " + health.to_string());
        };
    }
    processor_ = std::make_unique<detail::processor::Processor>(
        setup_->options, stage_->entities(), std::move(handlers), std::move(surroundings));
}

void Consumer::die() {
    stage_->scheduler().remove(callbacks_);
    stage_->scheduler().remove(notifier_);
    pool_.freeze();
    application_.die();
}

void Consumer::wind_up() {
    stage_->scheduler().add(callbacks_);
    stage_->scheduler().add(notifier_);
    pool_.thaw();
    application_.wind_up();
    processor_->stop(Deadline::at(stage_->scheduler().now()), [](const StopReport&) {});
}

} // namespace sessionq::simulation
