// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "contract/port_case.hpp"
#include "processor/processor.hpp"

namespace sessionq::test {

/// A processor on the entity of a case. Its workers run on the test's thread.
class ProcessorOnPort {
public:
    ProcessorOnPort(PortCase& port, SessionProcessorOptions options,
                    detail::processor::Handlers handlers, core::TracingPtr tracing = nullptr)
        : port_{port},
          processor_{std::move(options),
                     {port.entity},
                     std::move(handlers),
                     {.endpoints = {port.endpoint.get()},
                      .dispatcher = &dispatcher_,
                      .workers = &workers_,
                      .notifier = &workers_,
                      .clock = &clock_,
                      .seed = 1,
                      .emptied = [this] { emptied_ = true; },
                      .tracing = std::move(tracing)}} {
        processor_.start();
    }
    ~ProcessorOnPort() { stop(); }
    ProcessorOnPort(const ProcessorOnPort&) = delete;
    ProcessorOnPort& operator=(const ProcessorOnPort&) = delete;

    /// Runs the loop and the workers until `done`, or for as long as the fixture has patience.
    template <typename Done>
    bool until(Done done) {
        return port_.fixture.eventually([&] {
            step();
            return done();
        });
    }
    void ask_stop() {
        if (!std::exchange(stopping_, true)) {
            processor_.stop({Deadline::after(10s, port_.fixture.loop().now())},
                            [](const StopReport&) {});
        }
    }
    void stop() {
        ask_stop();
        CHECK(until([this] { return emptied_; }));
    }

private:
    class Tasks final : public core::Executor {
    public:
        void post(core::Task task) override { tasks_.push_back(std::move(task)); }
        void run() {
            while (!tasks_.empty()) {
                core::Task task = std::move(tasks_.front());
                tasks_.pop_front();
                task();
            }
        }

    private:
        std::deque<core::Task> tasks_{};
    };

    /// The time of the loop.
    class LoopClock final : public core::Clock {
    public:
        explicit LoopClock(core::EventLoop& loop) noexcept : loop_{&loop} {}
        [[nodiscard]] TimePoint now() const noexcept override { return loop_->now(); }
        [[nodiscard]] WallTime wall_now() const noexcept override {
            return core::system_clock().wall_now();
        }

    private:
        core::EventLoop* loop_;
    };

    void step() {
        const core::EventLoop& loop = port_.fixture.loop();
        dispatch::Dispatcher::Turn turn;
        for (dispatch::Call* call = dispatcher_.take(turn, loop.now()); call != nullptr;) {
            const dispatch::Verdict verdict = call->run();
            call = dispatcher_.finish(turn, verdict, loop.now());
        }
        workers_.run();
    }

    PortCase& port_;
    LoopClock clock_{port_.fixture.loop()};
    dispatch::Dispatcher dispatcher_{};
    Tasks workers_{};
    bool emptied_{false};
    bool stopping_{false};
    detail::processor::Processor processor_;
};

} // namespace sessionq::test
