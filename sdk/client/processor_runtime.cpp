// SPDX-License-Identifier: MIT
#include "client/processor_runtime.hpp"

#include <algorithm>
#include <random>
#include <thread>
#include <utility>

#include "client/thread_start.hpp"
#include "core/log.hpp"
#include "processor/options_check.hpp"

namespace sessionq::client {
namespace {

constexpr Duration destructor_patience = std::chrono::seconds{5};
constexpr Duration late_patience =
    std::chrono::milliseconds{100}; // for handlers that outlived a stop

constexpr Duration describe_patience = std::chrono::seconds{1};

ProcessorOptions checked(ProcessorOptions options, const std::vector<std::string>& entities,
                         const ports::Capabilities& capabilities, ports::Scope scope) {
    processor::check_options(options);
    processor::check_entities(entities);
    processor::check_capabilities(options, capabilities, scope);
    if (options.worker_threads == 0) {
        options.worker_threads = std::max(1U, std::thread::hardware_concurrency());
    }
    return options;
}

processor::StopTerms terms_of(const StopOptions& options, TimePoint now) {
    const Duration timeout = std::max(options.timeout, Duration::zero());
    processor::StopTerms terms{Deadline::after(timeout, now)};
    if (options.cancel_after) {
        const double share = *options.cancel_after > 0 ? std::min(*options.cancel_after, 1.0) : 0;
        const std::chrono::duration<double, Duration::period> after{
            static_cast<double>(timeout.count()) * share};
        // a share of for ever is for ever
        terms.cancel_at = terms.deadline.is_never() && share > 0
                              ? TimePoint::max()
                              : now + std::chrono::duration_cast<Duration>(after);
    }
    return terms;
}

} // namespace

ProcessorRuntime::ProcessorRuntime(std::shared_ptr<ClientCore> client,
                                   std::vector<std::string> entities, ProcessorOptions options,
                                   ports::Scope scope)
    : engine_{std::make_unique<Engine>(std::move(client))},
      entities_{std::move(entities)},
      options_{checked(std::move(options), entities_, engine_->client->capabilities(), scope)},
      scope_{scope} {}

ProcessorRuntime::~ProcessorRuntime() {
    if (processor() == nullptr) {
        return;
    }
    const StopReport report = stop({.timeout = destructor_patience});
    const bool inside = engine_->pool->on_worker_thread();
    const Duration patience = report.complete ? destructor_patience : late_patience;
    if (!inside && engine_->emptied.wait_for(patience) == std::future_status::ready) {
        return;
    }
    core::log(LogLevel::warning, "processor",
              "a processor ends while handlers of it still run; they are left to themselves");
    std::thread{[engine = std::move(engine_)] {
        engine->pool->stop(Deadline::never());
        engine->emptied.wait();
    }}.detach();
}

processor::Handlers& ProcessorRuntime::handlers_before_start() {
    if (processor() != nullptr) {
        throw Error{Errc::invalid_state, "handlers are registered before start"};
    }
    return handlers_;
}

void ProcessorRuntime::start() {
    if (processor() != nullptr) {
        throw Error{Errc::invalid_state, "the processor was started before"};
    }
    if (!handlers_.message && !handlers_.start_message) {
        throw Error{Errc::invalid_state, "on_message is not set"};
    }
    const OperationContext::DetachedScope detached; // it outlives the request that starts it
    Engine& engine = *engine_;
    const auto gone = std::make_shared<std::promise<void>>();
    engine.emptied = gone->get_future();
    processor::Environment environment{.dispatcher = &engine.dispatcher,
                                       .notifier = &engine.notifier,
                                       .clock = &engine.client->clock(),
                                       .seed = std::random_device{}(),
                                       .operation_timeout =
                                           engine.client->options().operation_timeout,
                                       .emptied = [gone] { gone->set_value(); }};
    for (std::size_t i = 0; i < engine.client->thread_count(); ++i) {
        environment.endpoints.push_back(engine.client->thread(i).endpoint.get());
    }
    engine.pool = start_threads("not all workers could be started", [&] {
        return std::make_unique<dispatch::WorkerPool>(engine.dispatcher, engine.client->clock(),
                                                      options_.worker_threads);
    });
    engine.coroutines = std::make_unique<dispatch::PoolContext>(*engine.pool);
    environment.workers = engine.pool.get();
    environment.coroutines = engine.coroutines.get();
    engine.processor = std::make_unique<processor::Processor>(
        options_, entities_, std::move(handlers_), std::move(environment), scope_);
    core::log(LogLevel::info, "processor", "starts on ", entities_.size(),
              " entities: ", options_.max_concurrent_sessions, " sessions, ",
              options_.max_concurrent_calls_per_session, " calls each, ", options_.worker_threads,
              " workers, idle timeout ",
              std::chrono::duration_cast<std::chrono::milliseconds>(options_.session_idle_timeout)
                  .count(),
              " ms");
    engine.processor->start();
}

processor::Processor& ProcessorRuntime::started() const {
    if (processor() == nullptr) {
        throw Error{Errc::invalid_state, "the processor is not started"};
    }
    return *processor();
}

void ProcessorRuntime::pause() {
    const OperationContext::DetachedScope detached; // it outlives the request that pauses
    started().pause();
}

void ProcessorRuntime::resume() {
    const OperationContext::DetachedScope detached;
    started().resume();
}

void ProcessorRuntime::update_limits(const ConcurrencyLimits& limits) {
    const OperationContext::DetachedScope detached;
    started().update_limits(limits);
}

ProcessorDescription ProcessorRuntime::describe() const {
    if (processor() == nullptr) {
        return {};
    }
    const auto promise = std::make_shared<std::promise<ProcessorDescription>>();
    auto described = promise->get_future();
    processor()->describe(
        [promise](ProcessorDescription whole) { promise->set_value(std::move(whole)); });
    if (described.wait_for(describe_patience) == std::future_status::ready) {
        return described.get();
    }
    return {.state = processor()->state(),
            .degraded = {"a receive thread does not answer"},
            .counters = processor()->counters()};
}

ProcessorCounters ProcessorRuntime::counters() const noexcept {
    return processor() == nullptr ? ProcessorCounters{} : processor()->counters();
}

StopReport ProcessorRuntime::stop(const StopOptions& options) noexcept try {
    if (processor() == nullptr) {
        return {.complete = true};
    }
    const OperationContext::DetachedScope detached;
    const processor::StopTerms terms = terms_of(options, engine_->client->clock().now());
    if (engine_->pool->on_worker_thread()) {
        processor()->stop(terms, [](const StopReport&) {});
        return {.requested_only = true};
    }
    auto promise = std::make_shared<std::promise<StopReport>>();
    processor()->stop(terms, [promise](const StopReport& report) { promise->set_value(report); });
    return promise->get_future().get();
} catch (const std::exception& error) { // out of memory; the destructor does the rest
    core::log(LogLevel::error, "processor", "stop failed: ", error.what());
    return {};
}

} // namespace sessionq::client
