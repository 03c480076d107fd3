// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "processor/processor.hpp"
#include "simulation/application.hpp"
#include "simulation/setup.hpp"
#include "simulation/sim_executor.hpp"
#include "simulation/span_watch.hpp"
#include "simulation/stage.hpp"
#include "simulation/virtual_worker.hpp"

namespace sessionq::simulation {

/// The consumer's process: the product's processor with its workers and its application. It may be
/// killed: nothing of it runs any more, and nothing of it is destroyed until the run is judged.
class Consumer {
public:
    Consumer(Stage& stage, Expectations& expectations, const Setup& setup);

    [[nodiscard]] Application& application() noexcept { return application_; }
    /// Null before `start` and after `destroy`.
    [[nodiscard]] detail::processor::Processor* processor() const noexcept {
        return processor_.get();
    }
    [[nodiscard]] const dispatch::Dispatcher& dispatcher() const noexcept { return dispatcher_; }
    [[nodiscard]] bool is_empty() const noexcept { return emptied_; }

    /// `spans`: watches them in every other run; null: in none.
    void start(SpanWatch* spans);
    void destroy() { processor_.reset(); }

    void die();
    /// Lets everything run again, so that it comes to an end. The connections are over.
    void wind_up();

private:
    Stage* stage_;
    const Setup* setup_;
    dispatch::Dispatcher dispatcher_{};
    SimExecutor callbacks_;
    SimExecutor notifier_;
    bool emptied_{false};
    std::shared_ptr<bool> host_{std::make_shared<bool>(true)};
    std::unique_ptr<detail::processor::Processor> processor_{};
    VirtualPool pool_;
    Application application_;
};

} // namespace sessionq::simulation
