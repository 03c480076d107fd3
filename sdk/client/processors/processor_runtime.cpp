// SPDX-License-Identifier: MIT
#include "client/processors/processor_runtime.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "client/threads/thread_start.hpp"
#include "core/log.hpp"
#include "core/log_events.hpp"
#include "core/rfc3339.hpp"
#include "dispatch/executor_workers.hpp"
#include "dispatch/worker_pool.hpp"
#include "processor/default_workers.hpp"
#include "processor/doubtful_settings.hpp"
#include "processor/options_check.hpp"

namespace sessionq::detail::client {
namespace {

constexpr Duration destructor_patience = std::chrono::seconds{5};
constexpr Duration late_patience =
    std::chrono::milliseconds{100}; // for handlers that outlived a stop

constexpr Duration run_patience = std::chrono::seconds{1}; // for on_error handlers after a run

constexpr Duration describe_patience = std::chrono::seconds{1};

dispatch::WorkerBounds worker_bounds(const SessionProcessorOptions& options, bool adapts) {
    return adapts ? dispatch::WorkerBounds{.least = std::min(
                                               options.worker_threads,
                                               std::max(1U, std::thread::hardware_concurrency())),
                                           .most = options.worker_threads}
                  : dispatch::WorkerBounds::exactly(options.worker_threads);
}

/// The most workers that are of use with these limits: threads, or works of an executor.
unsigned most_workers(const SessionProcessorOptions& limits, bool on_executor) {
    const auto count = on_executor ? processor::calls_at_once : processor::default_workers;
    return count(limits.max_concurrent_sessions, limits.max_concurrent_calls_per_session,
                 limits.max_concurrent_calls);
}

SessionProcessorOptions checked(SessionProcessorOptions options,
                                const std::vector<std::string>& entities,
                                const ports::Capabilities& capabilities, ports::Scope scope) {
    processor::check_options(options, scope);
    processor::check_entities(entities);
    processor::check_capabilities(options, capabilities, scope);
    if (options.worker_threads == 0 && options.executor == nullptr) {
        options.worker_threads = most_workers(options, false);
    }
    return options;
}

std::optional<ExecutorDescription> described_executor(const dispatch::Workers& workers) {
    const auto works = workers.works();
    return works ? std::optional{ExecutorDescription{.waiting = works->waiting,
                                                     .running = works->running}}
                 : std::nullopt;
}

processor::StopTerms terms_of(const StopOptions& options, TimePoint now) {
    const Duration timeout = std::max<Duration>(options.timeout, Duration::zero());
    processor::StopTerms terms{Deadline::after(timeout, now)};
    if (options.cancel_after) {
        const double share = *options.cancel_after > 0 ? std::min(*options.cancel_after, 1.0) : 0;
        const std::chrono::duration<double, Duration::period> after{
            static_cast<double>(timeout.count()) * share};
        // a share of an endless time is endless
        terms.cancel_at = terms.deadline.is_never() && share > 0
                              ? TimePoint::max()
                              : now + std::chrono::duration_cast<Duration>(after);
    }
    return terms;
}

} // namespace

ProcessorRuntime::Run::~Run() {
    if (workers != nullptr) { // else its threads could not be started
        workers->stop(Deadline::after(run_patience, client->clock().now()));
    }
}

ProcessorRuntime::ProcessorRuntime(std::shared_ptr<ClientCore> client,
                                   std::vector<std::string> entities,
                                   SessionProcessorOptions options, ports::Scope scope)
    : client_{std::move(client)},
      entities_{std::move(entities)},
      adapts_workers_{options.worker_threads == 0},
      options_{checked(std::move(options), entities_, client_->capabilities(), scope)},
      scope_{scope} {}

ProcessorRuntime::~ProcessorRuntime() {
    RunPtr run = current();
    if (run == nullptr) {
        return;
    }
    const StopReport report = stop({.timeout = destructor_patience});
    endpoint_.reset(); // after the stop, so that the endpoint shows the stop
    const bool inside = run->calls_back();
    const Duration patience = report.complete ? destructor_patience : late_patience;
    if (!inside && run->emptied.wait_for(patience) == std::future_status::ready) {
        return;
    }
    core::log(LogLevel::warning, "processor",
              "a processor ends while handlers of it still run; they are left to themselves");
    run_.reset();
    std::thread{[run = std::move(run)] {
        run->workers->stop(Deadline::never());
        run->emptied.wait();
    }}.detach();
}

processor::Handlers& ProcessorRuntime::handlers_before_start() {
    const RunPtr run = current();
    if (run != nullptr && run->processor->state() != ProcessorDescription::State::stopped) {
        throw Error{
            Errc::invalid_state,
            "handlers are registered before start, or after stop; stop the processor first"};
    }
    return handlers_;
}

void ProcessorRuntime::require_startable() const {
    if (!handlers_.take_messages()) {
        throw Error{Errc::invalid_state,
                    "neither on_message nor on_messages is set; set a handler before start"};
    }
    const RunPtr run = current();
    if (run == nullptr) {
        return;
    }
    if (run->processor->state() != ProcessorDescription::State::stopped) {
        throw Error{Errc::invalid_state,
                    "the processor was started and has not stopped yet; call stop first"};
    }
    if (run->processor->ends_soon()) {
        run->emptied.wait();
    } else if (run->emptied.wait_for(Duration::zero()) != std::future_status::ready) {
        throw Error{Errc::invalid_state, "handlers of the earlier start have not returned yet"};
    }
}

void ProcessorRuntime::open_describe_socket() {
    if (endpoint_ == nullptr && !options_.describe_socket.empty()) {
        endpoint_ = std::make_unique<DescribeEndpoint>(
            options_.describe_socket, [this] { return document(); }, client_->clock());
    }
}

std::unique_ptr<dispatch::Workers> ProcessorRuntime::make_workers(Run& run) const {
    if (options_.executor == nullptr) {
        return start_threads("not all workers could be started", [&] {
            return std::make_unique<dispatch::WorkerPool>(run.dispatcher, client_->clock(),
                                                          worker_bounds(options_, adapts_workers_));
        });
    }
    // The run stops its workers before its processor ends, and then no failure is told.
    return std::make_unique<dispatch::ExecutorWorkers>(
        run.dispatcher, client_->clock(), options_.executor, most_workers(options_, true),
        [&run, entity = entities_.front()](std::string why) {
            run.processor->report(
                {.source = ErrorSource::executor,
                 .failure = {.code = Errc::handler_failed, .detail = std::move(why)},
                 .entity = entity});
        },
        dispatch::ExecutorWorkers::Waits{});
}

ProcessorRuntime::RunPtr ProcessorRuntime::make_run() const {
    auto run = std::make_shared<Run>(client_);
    const auto gone = std::make_shared<std::promise<void>>();
    run->emptied = gone->get_future();
    processor::Environment environment{.dispatcher = &run->dispatcher,
                                       .notifier = &run->notifier,
                                       .clock = &client_->clock(),
                                       .seed = std::random_device{}(),
                                       .operation_timeout = client_->options().operation_timeout,
                                       .silence = client_->options().connection_idle_timeout / 2,
                                       .host = client_,
                                       .emptied = [gone] { gone->set_value(); },
                                       .tracing = client_->tracing(),
                                       .client_id = client_->options().client_id};
    for (std::size_t i = 0; i < client_->thread_count(); ++i) {
        environment.endpoints.push_back(client_->thread(i).endpoint.get());
    }
    run->workers = make_workers(*run);
    run->coroutines = std::make_unique<dispatch::CoroutineHost>(*run->workers);
    environment.workers = run->workers.get();
    environment.coroutines = run->coroutines.get();
    SessionProcessorOptions options = options_;
    options.executor = nullptr; // only the workers keep it: parts of the processor may outlive them
    run->processor = std::make_unique<processor::Processor>(
        std::move(options), entities_, handlers_, std::move(environment), scope_);
    return run;
}

void ProcessorRuntime::start() {
    // `run_.swap(run)` puts the earlier run here. It ends after the locks are released, because its
    // end waits for its threads.
    RunPtr run;
    const OperationContext::DetachedScope detached; // the run outlives the request around it
    const std::lock_guard starting{starting_};
    require_startable();
    open_describe_socket();
    run = make_run();
    auto doubts = processor::doubtful_settings(options_, client_->capabilities(), scope_);
    if (auto doubt = processor::doubtful_workers(options_); doubt && handlers_.keep_workers()) {
        doubts.push_back(*std::move(doubt));
    }
    for (const std::string& doubt : doubts) {
        core::log_event(LogLevel::warning, "processor", core::events::doubtful_setting, {}, doubt);
    }
    core::log_event(
        LogLevel::info, "processor", core::events::processor_started,
        {{"entity", entities_.front()}}, "starts on ", entities_.size(),
        entities_.size() == 1 ? " entity: " : " entities: ", options_.max_concurrent_sessions,
        " sessions, ", options_.max_concurrent_calls_per_session, " calls each, ",
        options_.executor == nullptr
            ? "up to " + std::to_string(options_.worker_threads) + " workers"
            : std::string{"on an executor"},
        ", idle timeout ",
        std::chrono::duration_cast<std::chrono::milliseconds>(options_.session_idle_timeout)
            .count(),
        " ms");
    const std::lock_guard lock{mutex_}; // so that a run in `run_` is always started
    run_.swap(run);
    run_->processor->start();
}

ProcessorRuntime::RunPtr ProcessorRuntime::started() const {
    RunPtr run = current();
    if (run == nullptr) {
        throw Error{Errc::invalid_state, "the processor is not started; call start first"};
    }
    return run;
}

void ProcessorRuntime::pause() {
    const OperationContext::DetachedScope detached; // the pause outlives the request
    started()->processor->pause();
    core::log_event(LogLevel::info, "processor", core::events::processor_paused,
                    {{"entity", entities_.front()}}, "is pausing");
}

void ProcessorRuntime::resume() {
    const OperationContext::DetachedScope detached;
    started()->processor->resume();
    core::log_event(LogLevel::info, "processor", core::events::processor_resumed,
                    {{"entity", entities_.front()}}, "resumes");
}

void ProcessorRuntime::update_limits(const SessionProcessorLimits& limits) {
    const OperationContext::DetachedScope detached;
    const RunPtr run = started();
    const SessionProcessorOptions all = run->processor->update_limits(limits);
    if (adapts_workers_) {
        run->workers->set_most(most_workers(all, options_.executor != nullptr));
    }
}

std::optional<ProcessorDescription> ProcessorRuntime::described(const Run& run) {
    const auto promise = std::make_shared<std::promise<ProcessorDescription>>();
    auto described = promise->get_future();
    run.processor->describe(
        [promise](ProcessorDescription whole) { promise->set_value(std::move(whole)); });
    if (described.wait_for(describe_patience) != std::future_status::ready) {
        return std::nullopt;
    }
    return described.get();
}

ProcessorDescription ProcessorRuntime::describe() const {
    const RunPtr run = current();
    if (run == nullptr) {
        return {.entities = entities_};
    }
    const auto executor = described_executor(*run->workers);
    if (auto whole = described(*run)) {
        whole->entities = entities_;
        whole->executor = executor;
        return std::move(*whole);
    }
    return {.state = run->processor->state(),
            .entities = entities_,
            .health = {.state = Health::State::failed,
                       .reasons = {{.cause = HealthCause::thread_silent,
                                    .detail = "a receive thread does not answer",
                                    .since = describe_patience}}},
            .executor = executor,
            .counters = run->processor->counters()};
}

std::string ProcessorRuntime::document() const {
    const ProcessorDescription whole = describe();
    const RunPtr run = current();
    // Without slots there are no gauges: a receive thread did not answer.
    const Metrics measured = run == nullptr
                                 ? Metrics{}
                                 : run->processor->metrics(whole.slots.empty() ? nullptr : &whole);
    return R"({"version":1,"time":")" + core::rfc3339(client_->clock().wall_now()) +
           R"(","processor":)" + whole.to_json() + R"(,"metrics":)" + to_json(measured) + "}\n";
}

Metrics ProcessorRuntime::metrics() const {
    const RunPtr run = current();
    if (run == nullptr) {
        return {};
    }
    const auto whole = described(*run);
    Metrics all = run->processor->metrics(whole ? &*whole : nullptr);
    for (const std::string& entity : entities_) {
        if (const auto backlog = client_->backlog(entity)) {
            processor::ProcessorMetrics of_entity{
                client_->capabilities().system(), client_->options().client_id, {entity}};
            of_entity.add(*backlog);
            all += of_entity.take();
        }
    }
    return all;
}

ProcessorCounters ProcessorRuntime::counters() const noexcept {
    const RunPtr run = current();
    return run == nullptr ? ProcessorCounters{} : run->processor->counters();
}

ProcessorState ProcessorRuntime::state() const {
    const RunPtr run = current();
    return run == nullptr ? ProcessorState::created : run->processor->state();
}

Operation<StopReport> ProcessorRuntime::wait(const CallOptions& call) const {
    const RunPtr run = started();
    if (run->calls_back()) {
        throw Error{Errc::invalid_state,
                    "wait: the stop waits for this callback of the processor, so it cannot wait "
                    "for the stop"};
    }
    CallScope scope = scope_of(call, client_->clock().now());
    return wait_for(*run, scope.deadline, std::move(scope.context));
}

Operation<StopReport> ProcessorRuntime::wait_for(const Run& run, Deadline deadline,
                                                 OperationContext context) const {
    return {.client = client_,
            .loop = *client_->thread(0).thread,
            .deadline = deadline,
            .context = std::move(context),
            .start = [waits = run.stop_waits](const PendingPtr<StopReport>& pending) {
                // The stop is told on any thread, and the operation ends on its own loop.
                const std::uint64_t number =
                    waits->add([&loop = pending->loop(), answer = AnswerTo<StopReport>{pending}](
                                   const StopReport& report) mutable {
                        loop.post([answer = std::move(answer), report] { answer(report); });
                    });
                pending->ask_port([waits, number] { waits->forget(number); });
            }};
}

PublicCall<StopReport> ProcessorRuntime::begin_stop(const StopOptions& options) {
    const auto at_once = [](StopReport report) {
        return PublicCall<StopReport>{
            .finish = [report](core::Result<StopReport>) { return report; }};
    };
    const RunPtr run = current();
    if (run == nullptr) {
        return at_once({.complete = true});
    }
    const OperationContext::DetachedScope detached;
    run->processor->stop(
        terms_of(options, client_->clock().now()),
        [waits = run->stop_waits](const StopReport& report) { waits->tell(report); });
    if (run->calls_back()) {
        return at_once({.requested_only = true});
    }
    return {.operation = wait_for(*run, Deadline::never(), {})};
}

StopReport ProcessorRuntime::stop(const StopOptions& options) noexcept try {
    const RunPtr run = current();
    if (run == nullptr) {
        return {.complete = true};
    }
    const OperationContext::DetachedScope detached;
    const processor::StopTerms terms = terms_of(options, client_->clock().now());
    if (run->calls_back()) {
        run->processor->stop(
            terms, [waits = run->stop_waits](const StopReport& report) { waits->tell(report); });
        return {.requested_only = true};
    }
    auto promise = std::make_shared<std::promise<StopReport>>();
    run->processor->stop(terms, [promise, waits = run->stop_waits](const StopReport& report) {
        waits->tell(report);
        promise->set_value(report);
    });
    return promise->get_future().get();
} catch (const std::exception& error) { // out of memory; the destructor does the rest
    core::log(LogLevel::error, "processor", "stop failed: ", error.what());
    return {};
}

} // namespace sessionq::detail::client
