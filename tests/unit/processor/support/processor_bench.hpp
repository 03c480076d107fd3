// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "processor/processor.hpp"
#include "support/handler_end.hpp"
#include "support/manual_loop.hpp"
#include "unit/processor/support/abandon_delay.hpp"
#include "unit/processor/support/scripted_port.hpp"

namespace sessionq::test {

class QueueExecutor final : public core::Executor {
public:
    void post(core::Task task) override { tasks_.push_back(std::move(task)); }
    bool run() {
        const bool any = !tasks_.empty();
        while (!tasks_.empty()) {
            core::Task task = std::move(tasks_.front());
            tasks_.pop_front();
            task();
        }
        return any;
    }

private:
    std::deque<core::Task> tasks_{};
};

/// A handler that has started and ends when the test says so.
struct StartedCall {
    std::string text;
    MessageContext* context;
    Completion completion;
};

/// A processor on a scripted port and a manual loop, its workers stepped on this thread.
class ProcessorBench {
public:
    explicit ProcessorBench(SessionProcessorOptions options = {},
                            std::vector<std::string> entities = {"orders"}, bool shares = false) {
        options.max_concurrent_sessions =
            options.max_concurrent_sessions == 8 ? 1 : options.max_concurrent_sessions;
        options_ = without_default_delay(std::move(options));
        if (!shares) { // a test that lasts is not about that
            options_.max_hold = options_.max_hold.value_or(Duration::zero());
        }
        entities_ = std::move(entities);
        handlers.start_message = [this](MessageContext& context, Completion completion) {
            handled.append(handled.empty() ? "" : " ").append(context.message().text());
            if (holds) {
                started.push_back(
                    {std::string{context.message().text()}, &context, std::move(completion)});
                return;
            }
            std::exception_ptr error;
            try {
                if (handle) {
                    handle(context);
                }
            } catch (...) {
                error = std::current_exception();
            }
            end_handler(completion, error);
        };
        handlers.error = [this](const ErrorContext& error) {
            errors.append(errors.empty() ? "" : ", ")
                .append(to_string(error.source))
                .append(" ")
                .append(to_string(error.failure.code));
            last_error = error.failure;
        };
    }
    ~ProcessorBench() {
        using State = ProcessorDescription::State;
        if (processor &&
            (processor->state() == State::running || processor->state() == State::paused)) {
            holds = false;
            stop(std::chrono::seconds{1});
            finish_all();
            loop.advance(std::chrono::seconds{10});
            run();
        }
    }
    ProcessorBench(const ProcessorBench&) = delete;
    ProcessorBench& operator=(const ProcessorBench&) = delete;

    void start() {
        processor = std::make_unique<detail::processor::Processor>(
            options_, entities_, handlers,
            detail::processor::Environment{.endpoints = {&endpoint},
                                           .dispatcher = &dispatcher,
                                           .workers = &workers,
                                           .notifier = &notifier,
                                           .clock = &loop.clock(),
                                           .seed = 1,
                                           .host = host,
                                           .emptied = [this] { emptied = true; },
                                           .tracing = tracing},
            scope);
        processor->start();
        run();
    }

    /// Answers the oldest accept with a session.
    ScriptedLinkPtr open(const std::string& id = "a", std::optional<Duration> lock = std::nullopt) {
        auto link = std::make_shared<ScriptedLink>(id, lock);
        link->answers = answers;
        link->removes = options_.receive_and_delete;
        links.push_back(link);
        endpoint.answer(ports::SessionLinkPtr{std::make_unique<LinkToScript>(link)});
        run();
        return link;
    }

    /// Until nothing happens by itself at this instant.
    void run() {
        bool any = true;
        while (any) {
            any = loop.run_until_idle() != 0;
            any = step_workers() || any;
            any = workers.run() || any;
            any = notifier.run() || any;
            for (std::size_t i = 0; i < links.size(); ++i) {
                const ScriptedLinkPtr link = links[i];
                any = (link->answers_state && link->answer_state()) || any;
                if (link->answers) {
                    any = link->answer_drain() || any;
                    any = link->answer_settlement() || any;
                    any = link->answer_close() || any;
                }
            }
        }
    }
    void advance(Duration length) {
        const TimePoint end = loop.now() + length;
        run();
        for (auto due = loop.timers().next_wakeup(); due && *due <= end;
             due = loop.timers().next_wakeup()) {
            loop.advance_to(std::max(*due, loop.now()));
            run();
        }
        loop.advance_to(end);
        run();
    }
    void deliver(const ScriptedLinkPtr& link, std::initializer_list<const char*> texts) {
        for (const char* text : texts) {
            link->deliver(text);
        }
        run();
    }

    /// Ends the oldest started handler.
    void finish(const char* failure = nullptr) {
        const StartedCall call = std::move(started.front());
        started.pop_front();
        end_handler(call.completion, failure != nullptr
                                         ? std::make_exception_ptr(std::runtime_error{failure})
                                         : nullptr);
        run();
    }
    void finish_all() {
        run();
        while (!started.empty()) {
            finish();
        }
    }

    /// What is ready runs on a worker; true if there was anything.
    bool step_workers() {
        dispatch::Dispatcher::Turn turn;
        dispatch::Call* call = dispatcher.take(turn, loop.now());
        const bool any = call != nullptr;
        while (call != nullptr) {
            const dispatch::Verdict verdict = call->run();
            call = dispatcher.finish(turn, verdict, loop.now());
        }
        return any;
    }

    void stop(Duration length) {
        processor->stop(Deadline::after(length, loop.now()),
                        [this](const StopReport& report) { stopped.push_back(report); });
        run();
    }
    [[nodiscard]] SlotDescription slot(std::size_t index = 0) const {
        return processor->describe_here().slots.at(index);
    }
    [[nodiscard]] ProcessorCounters counters() const { return processor->counters(); }
    [[nodiscard]] std::string take_handled() { return std::exchange(handled, {}); }

    ManualLoop loop{};
    ScriptedEndpoint endpoint{loop};
    dispatch::Dispatcher dispatcher{};
    QueueExecutor workers{};
    QueueExecutor notifier{};
    std::shared_ptr<int> host{std::make_shared<int>()}; ///< in place of a client
    core::TracingPtr tracing{};                         ///< null: no tracer
    detail::processor::Handlers handlers{};
    std::vector<ScriptedLinkPtr> links{};
    std::unique_ptr<detail::processor::Processor> processor{};
    bool emptied{false};                           ///< nothing of the processor is left on its loop
    bool answers{true};                            ///< links opened from now on do
    bool holds{false};                             ///< handlers do not end by themselves
    ports::Scope scope{ports::Scope::session};     ///< of its links
    std::function<void(MessageContext&)> handle{}; ///< what they do if they do
    std::deque<StartedCall> started{};
    std::string handled{}; ///< texts in the order of starts
    std::string errors{};  ///< what on_error was told
    Failure last_error{};
    std::vector<StopReport> stopped{};

private:
    SessionProcessorOptions options_{};
    std::vector<std::string> entities_{};
};

} // namespace sessionq::test
