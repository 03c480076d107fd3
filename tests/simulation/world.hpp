// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>

#include "simulation/consumer.hpp"
#include "simulation/expectations.hpp"
#include "simulation/run.hpp"
#include "simulation/span_watch.hpp"

namespace sessionq::simulation {

/// The product's processor on a stage, with its workers and its application. Faults come first,
/// then a calm time in which everything must be consumed, then the end. Where the consumer is
/// killed, another one follows.
class World {
public:
    World(std::unique_ptr<Stage> stage, const Setup& setup);

    [[nodiscard]] RunResult run();

private:
    void begin();
    void start_consumer();
    static void calm(Application& application);
    bool kill_consumer(const Consumer& which, const MessageRecord* killer);
    void bury();
    void amid_trouble();
    void consume_the_rest();
    void stop();
    void take_down();

    void ask_stop(bool from_inside);
    void change_limits();
    void switch_pause();
    void pause();
    void resume();
    void pause_in_calm();
    void check_slots();
    void check_parked(const ProcessorDescription& description);
    void check_settling(const ProcessorDescription& description);
    void after_handler(const DeliveryRecord& delivery);
    void check_lanes();
    [[nodiscard]] detail::processor::Processor* processor() const noexcept {
        return consumer_ ? consumer_->processor() : nullptr;
    }
    [[nodiscard]] bool found() { return stage_->environment().verdict.first().has_value(); }
    [[nodiscard]] Environment& environment() noexcept { return stage_->environment(); }
    [[nodiscard]] Scheduler& scheduler() noexcept { return stage_->scheduler(); }

    Setup setup_;
    std::unique_ptr<Stage> stage_;
    Expectations expectations_{};
    std::unique_ptr<Consumer> consumer_{}; ///< null: killed, and none has started since
    std::vector<std::unique_ptr<Consumer>> killed_{};
    TimePoint last_settling_{}; ///< when a session was last seen to settle without a slot
    bool stop_asked_{false};
    SpanWatch spans_{};
};

} // namespace sessionq::simulation
