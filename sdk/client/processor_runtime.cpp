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

ProcessorOptions checked(ProcessorOptions options, const std::vector<std::string>& entities,
                         const ports::Capabilities& capabilities) {
    processor::check_options(options);
    processor::check_entities(entities);
    processor::check_capabilities(options, capabilities);
    if (options.worker_threads == 0) {
        options.worker_threads = std::max(1U, std::thread::hardware_concurrency());
    }
    return options;
}

} // namespace

ProcessorRuntime::ProcessorRuntime(std::shared_ptr<ClientCore> client,
                                   std::vector<std::string> entities, ProcessorOptions options)
    : engine_{std::make_unique<Engine>(std::move(client))},
      entities_{std::move(entities)},
      options_{checked(std::move(options), entities_, engine_->client->capabilities())} {}

ProcessorRuntime::~ProcessorRuntime() {
    if (processor() == nullptr) {
        return;
    }
    const StopReport report = stop(destructor_patience);
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
        options_, entities_, std::move(handlers_), std::move(environment));
    core::log(LogLevel::info, "processor", "starts on ", entities_.size(),
              " entities: ", options_.max_concurrent_sessions, " sessions, ",
              options_.max_concurrent_calls_per_session, " calls each, ", options_.worker_threads,
              " workers, idle timeout ",
              std::chrono::duration_cast<std::chrono::milliseconds>(options_.session_idle_timeout)
                  .count(),
              " ms");
    engine.processor->start();
}

StopReport ProcessorRuntime::stop(Duration timeout) noexcept try {
    if (processor() == nullptr) {
        return {.complete = true};
    }
    const Deadline deadline =
        Deadline::after(std::max(timeout, Duration::zero()), engine_->client->clock().now());
    if (engine_->pool->on_worker_thread()) {
        processor()->stop(deadline, [](const StopReport&) {});
        return {.requested_only = true};
    }
    auto promise = std::make_shared<std::promise<StopReport>>();
    processor()->stop(deadline,
                      [promise](const StopReport& report) { promise->set_value(report); });
    return promise->get_future().get();
} catch (const std::exception& error) { // out of memory; the destructor does the rest
    core::log(LogLevel::error, "processor", "stop failed: ", error.what());
    return {};
}

} // namespace sessionq::client
