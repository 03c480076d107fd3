// SPDX-License-Identifier: MIT
#include "processor/processor.hpp"

#include <utility>

#include "core/log.hpp"
#include "core/log_events.hpp"
#include "processor/options_check.hpp"
#include "processor/report/processor_metrics.hpp"

namespace sessionq::detail::processor {

Processor::Processor(SessionProcessorOptions options, std::vector<std::string> entities,
                     Handlers handlers, Environment environment, ports::Scope scope)
    : shared_{std::make_shared<SharedState>()}, lifecycle_{environment.endpoints.size()} {
    check_options(options, scope);
    check_entities(entities);
    check_capabilities(options, environment.endpoints.front()->capabilities(), scope);
    shared_->scope = scope;
    shared_->options = std::move(options);
    in_force_ = shared_->options;
    shared_->parked.limit(shared_->options.max_parked_sessions);
    shared_->settling.limit(shared_->options.max_concurrent_sessions);
    shared_->entities = std::move(entities);
    shared_->handlers = std::move(handlers);
    shared_->environment = std::move(environment);
    const auto& endpoints = shared_->environment.endpoints;
    if (!shared_->options.session_ids.empty()) {
        shared_->claims = std::make_unique<TargetClaims>(shared_->entities.size() *
                                                             shared_->options.session_ids.size(),
                                                         [this] { look_again(); });
    }
    shared_->health = std::make_shared<HealthBoard>(endpoints.size());
    core::Random seeds{shared_->environment.seed};
    for (ports::Endpoint* endpoint : endpoints) {
        shards_.push_back(
            std::make_shared<Shard>(shared_, shards_.size(), *endpoint, seeds.next(),
                                    shared_->options.max_buffered_bytes / endpoints.size()));
    }
}

template <typename Task>
void Processor::on_loop(const std::shared_ptr<Shard>& shard, Task task) {
    shard->loop().post([weak = std::weak_ptr{shard}, task = std::move(task)]() mutable {
        if (const auto there = weak.lock()) {
            task(*there);
        }
    });
}

template <typename Task>
void Processor::on_all_loops(Task task) {
    for (const auto& shard : shards_) {
        on_loop(shard, task);
    }
}

void Processor::start() {
    const std::lock_guard lock{mutex_};
    if (!lifecycle_.start()) {
        throw Error{Errc::invalid_state, "the processor was started before"};
    }
    shared_->environment.dispatcher->set_max_calls(shared_->options.max_concurrent_calls);
    for (std::size_t i = 0; i < shards_.size(); ++i) {
        on_loop(shards_[i],
                [all = shared_->options.max_concurrent_sessions,
                 slots = share(shared_->options.max_concurrent_sessions, i, shards_.size())](
                    Shard& shard) { shard.start(slots, all); });
    }
}

void Processor::stop(const StopTerms& terms, Stopped stopped) {
    std::unique_lock lock{mutex_};
    if (!lifecycle_.stop()) {
        const StopReport report = lifecycle_.report();
        lock.unlock();
        stopped(report);
        return;
    }
    stopped_.push_back(std::move(stopped));
    on_all_loops([this, terms](Shard& shard) {
        shard.stop(
            terms, [this](const StopReport& report) { shard_stopped(report); },
            [this] { shard_gone(); });
    });
}

void Processor::shard_stopped(const StopReport& report) {
    std::unique_lock lock{mutex_};
    if (!lifecycle_.shard_stopped(report)) {
        return;
    }
    const std::vector<Stopped> told = std::move(stopped_);
    const StopReport whole = lifecycle_.report();
    lock.unlock();
    core::log_event(whole.complete ? LogLevel::info : LogLevel::warning, "processor",
                    core::events::processor_stopped, {{"entity", shared_->entities.front()}},
                    "stopped: ", whole.drained, " handlers finished, ", whole.released,
                    " messages went back unhandled, ", whole.left, " handlers still run");
    flush_log();
    for (const Stopped& each : told) {
        each(whole);
    }
}

void Processor::shard_gone() {
    const std::function<void()> emptied = shared_->environment.emptied;
    std::unique_lock lock{mutex_};
    const bool last = lifecycle_.shard_gone();
    lock.unlock();
    if (last && emptied) {
        emptied(); // the processor may be destroyed from here on
    }
}

void Processor::require_in_use(const char* function) const {
    if (!lifecycle_.is_in_use()) {
        throw Error{Errc::invalid_state,
                    std::string{function} + ": the processor has been stopped"};
    }
}

void Processor::pause() {
    const std::lock_guard lock{mutex_};
    require_in_use("pause");
    if (lifecycle_.pause()) {
        on_all_loops([](Shard& shard) { shard.pause(); });
    }
}

void Processor::resume() {
    const std::lock_guard lock{mutex_};
    require_in_use("resume");
    if (lifecycle_.resume()) {
        on_all_loops([](Shard& shard) { shard.resume(); });
    }
}

SessionProcessorOptions Processor::update_limits(const SessionProcessorLimits& limits) {
    std::unique_lock lock{mutex_};
    SessionProcessorOptions changed = with_limits(in_force_, limits);
    check_options(changed);
    require_in_use("update_limits");
    in_force_ = changed;
    shared_->environment.dispatcher->set_max_calls(changed.max_concurrent_calls);
    shared_->settling.limit(changed.max_concurrent_sessions);
    for (std::size_t i = 0; i < shards_.size(); ++i) {
        on_loop(shards_[i],
                [limits, slots = share(changed.max_concurrent_sessions, i, shards_.size()),
                 all = changed.max_concurrent_sessions](Shard& shard) {
                    shard.set_limits(slots, all, limits);
                });
    }
    lock.unlock();
    core::log_event(
        LogLevel::info, "processor", core::events::limits_changed,
        {{"entity", shared_->entities.front()}},
        "has new limits: ", changed.max_concurrent_sessions, " sessions, ",
        changed.max_concurrent_calls_per_session, " calls each, ", changed.max_concurrent_calls,
        " calls in all, idle timeout in ms ",
        std::chrono::duration_cast<std::chrono::milliseconds>(changed.session_idle_timeout).count(),
        ", prefetch ", changed.prefetch);
    return changed;
}

// A receive thread has let go of a named session. A free slot on another thread may wait for it.
void Processor::look_again() {
    on_all_loops([](Shard& shard) { shard.look_again(); });
}

void Processor::describe(Described described) const {
    struct Gathering {
        std::mutex mutex{};
        std::size_t missing;
        ProcessorDescription whole{};
        std::vector<Health> healths{};
        Described described;
    };
    auto gathering = std::make_shared<Gathering>();
    gathering->missing = shards_.size();
    gathering->described = std::move(described);
    gathering->whole.state = state();
    gathering->whole.counters = counters();
    for (const auto& shard : shards_) {
        on_loop(shard, [gathering](Shard& there) {
            const std::unique_lock lock{gathering->mutex};
            there.describe(gathering->whole, gathering->healths);
            if (--gathering->missing == 0) {
                gathering->whole.health = merged(gathering->healths);
                gathering->described(std::move(gathering->whole));
            }
        });
    }
}

ProcessorCounters Processor::counters() const noexcept {
    ProcessorCounters totals;
    for (const auto& shard : shards_) {
        shard->meters().add_to(totals);
    }
    return totals;
}

Metrics Processor::metrics(const ProcessorDescription* described) const {
    ProcessorMetrics all{shared_->environment.endpoints.front()->capabilities().system(),
                         shared_->environment.client_id, shared_->entities};
    for (const auto& shard : shards_) {
        all.add(shard->meters());
    }
    if (described != nullptr) {
        all.add(*described);
        all.add(described->health);
    } else {
        all.add(Health{.state = Health::State::failed,
                       .reasons = {{.cause = HealthCause::thread_silent}}});
    }
    return all.take();
}

ProcessorDescription Processor::describe_here() const {
    ProcessorDescription whole{.state = state(), .counters = counters()};
    std::vector<Health> healths;
    for (const auto& shard : shards_) {
        shard->describe(whole, healths);
    }
    whole.health = merged(healths);
    return whole;
}

std::uint32_t Processor::share(std::uint32_t total, std::size_t index, std::size_t count) noexcept {
    return static_cast<std::uint32_t>((total + count - 1 - index) / count);
}

} // namespace sessionq::detail::processor
