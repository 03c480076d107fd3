// SPDX-License-Identifier: MIT
#include "processor/shard.hpp"

#include <algorithm>
#include <utility>

#include "core/log.hpp"
#include "processor/credit/first_credit.hpp"

namespace sessionq::detail::processor {
namespace {

/// Returns the limits with the idle timeout that applies: none if each named session has a slot.
SessionLimits limits_at(const TargetBook& targets, SessionLimits limits) {
    limits.idle_timeout = targets.idle_timeout(limits.idle_timeout);
    return limits;
}

SessionSettings settings_of(Workplace& workplace) {
    SharedState& shared = *workplace.shared;
    return {.options = shared.options,
            .tuning = shared.environment.tuning,
            .budget = workplace.budget,
            .random = workplace.random,
            .parked = shared.parked,
            .settling = shared.settling,
            .drain_time = workplace.drain_time,
            .action_memory = workplace.action_memory,
            .batch = shared.handlers.batch,
            .ordered = shared.scope == ports::Scope::session,
            .has_open = shared.handlers.has_open(),
            .has_close = shared.handlers.has_close()};
}

template <typename Sessions>
std::size_t without_slot(const Sessions& sessions) {
    return static_cast<std::size_t>(
        std::count_if(sessions.begin(), sessions.end(), [](const auto& session) {
            return session->machine().seat() != SessionMachine::Seat::slot;
        }));
}

/// Returns how many handlers run now.
template <typename Sessions>
std::uint64_t running(const Sessions& sessions) {
    std::uint64_t count = 0;
    for (const auto& session : sessions) {
        count += session->snapshot(TimePoint::max()).running;
    }
    return count;
}

} // namespace

Shard::Shard(std::shared_ptr<SharedState> shared, std::size_t number, ports::Endpoint& endpoint,
             std::uint64_t seed, std::size_t budget)
    : workplace_{std::move(shared), endpoint, seed, budget, sizeof(MessageCall)},
      slots_{*this, workplace_},
      limits_{.idle_timeout = workplace_.options().session_idle_timeout,
              .prefetch = workplace_.options().prefetch},
      settings_{settings_of(workplace_)},
      health_{.shard = number,
              .machine = {workplace_.options().health, workplace_.shared->environment.silence,
                          number == 0}} {}

void Shard::start(std::uint32_t slots, std::uint32_t all_slots) {
    workplace_.life = weak_from_this();
    loop().attach(*this);
    workplace_.endpoint.add_budget(workplace_.budget.budget_bytes());
    loop().timers().arm(watchdog_,
                        loop().now() + workplace_.shared->environment.tuning.watchdog_interval);
    slots_.set_limits(slots, all_slots, slots_.calls_per_session());
}

template <typename... Wants, typename... Gives>
void Shard::feed_sessions(void (SessionMachine::*input)(Wants...), Gives... gives) {
    for (auto next = sessions_.begin(); next != sessions_.end();) {
        SessionDriver& session = **next++; // the session may end, and leave the list
        session.feed(input, gives...);
    }
}

void Shard::set_limits(std::uint32_t slots, std::uint32_t all_slots,
                       const SessionProcessorLimits& limits) {
    if (stop_.phase() != StopMachine::Phase::running) {
        return;
    }
    limits_ = {.idle_timeout = limits.session_idle_timeout.value_or(limits_.idle_timeout),
               .prefetch = limits.prefetch.value_or(limits_.prefetch)};
    const std::uint32_t calls =
        limits.max_concurrent_calls_per_session.value_or(slots_.calls_per_session());
    slots_.set_limits(slots, all_slots, calls);
    feed_sessions(&SessionMachine::limit_calls, calls);
    feed_sessions(&SessionMachine::limit, limits_at(slots_.targets(), limits_));
    lane_ready();
}

// Sessions

ports::FirstCredit Shard::first_credit() {
    const Handlers& handlers = workplace_.shared->handlers;
    return processor::first_credit(workplace_.options(), limits_at(slots_.targets(), limits_),
                                   window_half(slots_.calls_per_session(), handlers.batch),
                                   slots_.active(), handlers.has_open(), workplace_.budget);
}

SessionDriver& Shard::add_session(const SessionGrant& grant, ports::SessionLinkPtr link) {
    const std::string& entity = slots_.targets()[grant.target].entity_at(link->entity_index());
    SessionStart start{.limits = limits_at(slots_.targets(), limits_),
                       .calls = slots_.calls_per_session(),
                       .share = link->share()};
    auto session =
        std::make_shared<SessionDriver>(static_cast<SessionOwner&>(*this), workplace_, grant,
                                        entity, settings_, std::move(start), std::move(link));
    if (spare_.empty()) {
        spare_.emplace_back();
    }
    sessions_.splice(sessions_.end(), spare_, spare_.begin());
    sessions_.back() = std::move(session);
    sessions_.back()->place = std::prev(sessions_.end());
    return *sessions_.back();
}

void Shard::slot_free(const SessionGrant& grant, CloseReason reason, bool had_messages) {
    slots_.session_left(grant, reason, had_messages);
}

/// Destroys the session at the end of the turn, because the session is in the middle of this call.
void Shard::session_ended(SessionDriver& session) {
    ended_.splice(ended_.end(), sessions_, session.place);
    loop().wake();
}

/// Destroys the sessions that ended. Keeps some places of the list for later sessions.
void Shard::free_ended() {
    constexpr std::size_t most_spare = 64;
    while (!ended_.empty()) {
        ended_.front().reset();
        if (spare_.size() < most_spare) {
            spare_.splice(spare_.end(), ended_, ended_.begin());
        } else {
            ended_.pop_front();
        }
    }
}

void Shard::lane_ready() {
    if (ready_lanes_++ == 0) {
        loop().wake();
    }
}

/// The end of a turn: notices of workers, timers, lanes that became ready, sessions that ended.
void Shard::drain() noexcept {
    take_notices();
    workplace_.timers.set();
    if (std::exchange(ready_lanes_, 0) != 0) {
        workplace_.shared->environment.dispatcher->flush();
    }
    free_ended();
    apply(stop_.changed({.sessions = !sessions_.empty(), .accepts = slots_.has_accepts()}));
}

void Shard::take_notices() {
    ShardCall* call = workplace_.notices.take_all();
    while (call != nullptr) {
        ShardCall& each = *call;
        call = core::MpscQueue<ShardCall>::next(each);
        each.noticed();
    }
}

// Watching

Health Shard::health() {
    HealthMachine& machine = health_.machine;
    machine.begin(loop().now());
    if (slots_.show(machine) || !sessions_.empty()) { // else no connection is needed
        std::vector<core::ConnectionStatus> connections;
        workplace_.endpoint.add_status(connections);
        machine.connections(connections);
    }
    for (const auto& session : sessions_) {
        machine.session(session->snapshot(machine.quiet_since()));
    }
    if (health_.shard == 0) { // the first shard reports the faults of all shards
        const HandlerFaults& faults = *workplace_.shared->faults;
        machine.handlers(faults.dropped.load(std::memory_order_relaxed),
                         faults.repeated.load(std::memory_order_relaxed));
    }
    machine.buffer(workplace_.budget.buffered_bytes(), workplace_.budget.budget_bytes());
    return machine.end();
}

void Shard::on_watchdog() {
    if (Health found = health(); health_.news.is_news(found)) {
        workplace_.shared->tell_health(health_.shard, std::move(found));
    }
    core::write_held_log();
    slots_.drop_late(loop().now());
    loop().wake();
    loop().timers().arm(watchdog_,
                        loop().now() + workplace_.shared->environment.tuning.watchdog_interval);
}

void Shard::describe(ProcessorDescription& into, std::vector<Health>& healths) {
    slots_.describe(into);
    for (const auto& session : sessions_) {
        switch (session->machine().seat()) {
        case SessionMachine::Seat::slot: break;
        case SessionMachine::Seat::parked:
            into.parked.push_back(
                processor::describe(session->snapshot(TimePoint::max()), loop().now()));
            break;
        case SessionMachine::Seat::settling:
            into.settling.push_back(
                processor::describe(session->snapshot(TimePoint::max()), loop().now()));
            break;
        }
    }
    into.buffered_bytes += workplace_.budget.buffered_bytes();
    healths.push_back(health());
}

// Pausing and stopping

void Shard::pause() {
    slots_.pause();
    feed_sessions(&SessionMachine::leave, CloseReason::paused);
}

void Shard::stop(const StopTerms& terms, Stopped stopped, std::function<void()> gone) {
    stopped_ = std::move(stopped);
    gone_ = std::move(gone);
    apply(stop_.stop(terms, loop().now()));
    loop().wake();
}

void Shard::on_stop_due() { apply(stop_.due(loop().now())); }

void Shard::apply(const StopActions& actions) {
    if (actions.stop_slots) {
        workplace_.tally = {.sessions = slots_.held() + without_slot(sessions_)};
        slots_.stop();
        feed_sessions(&SessionMachine::leave, CloseReason::stopped);
    }
    if (actions.warn) {
        for (const auto& session : sessions_) {
            session->request_stop();
        }
        workplace_.tally.cancelled = running(sessions_);
    }
    if (actions.give_up) {
        take_notices(); // a handler whose end was reported is not counted as left
        feed_sessions(&SessionMachine::give_up);
        workplace_.tally.left += running(sessions_);
        slots_.drop_late(TimePoint::max());
        loop().wake();
    }
    if (actions.tell) {
        workplace_.tally.complete = actions.complete;
        loop().timers().cancel(watchdog_);
        loop().post(
            [stopped = std::move(stopped_), report = workplace_.tally] { stopped(report); });
    }
    if (actions.let_go) {
        loop().detach(*this);
        workplace_.endpoint.remove_budget(workplace_.budget.budget_bytes());
        loop().post(std::move(gone_));
    }
    loop().timers().set_due(stop_timer_, stop_.next());
}

} // namespace sessionq::detail::processor
