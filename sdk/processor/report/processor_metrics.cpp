// SPDX-License-Identifier: MIT
#include "processor/report/processor_metrics.hpp"

#include <algorithm>

#include "core/metric_list.hpp"

namespace sessionq::detail::processor {
namespace {

constexpr std::string_view subscriptions = "/Subscriptions/";

MetricAttributes attributes_of(std::string_view system, std::string_view client_id,
                               const std::vector<std::string>& entities) {
    MetricAttributes all = core::common_attributes(system, client_id);
    if (entities.size() == 1) {
        const std::string& entity = entities.front();
        const std::size_t topic = entity.find(subscriptions);
        all.push_back({"messaging.destination.name", entity.substr(0, topic)});
        if (topic != std::string::npos) {
            all.push_back({"messaging.destination.subscription.name",
                           entity.substr(topic + subscriptions.size())});
        }
        return all;
    }
    std::string names;
    for (const std::string& entity : entities) {
        names += (names.empty() ? "" : ",") + entity;
    }
    all.push_back({"sessionq.entities", std::move(names)});
    return all;
}

Histogram histogram_of(const core::HistogramRecorder& recorder) {
    Histogram histogram;
    recorder.add_to(histogram);
    return histogram;
}

void count_messages(core::MetricList& all, const Counters& counters) {
    constexpr core::MetricName ended{"sessionq.message.ended", "How messages ended.", "{message}"};
    constexpr core::MetricName handled{"sessionq.message.handled",
                                       "Messages in handlers that ended.", "{message}"};
    all.count({"messaging.client.consumed.messages", "Messages that came.", "{message}"},
              counters.messages_received.read(), {{"messaging.operation.name", "receive"}});
    all.count(handled, counters.messages_handled.read(), {{"sessionq.result", "returned"}});
    all.count(handled, counters.messages_failed.read(), {{"sessionq.result", "threw"}});
    const auto ended_as = [&](const char* outcome, const Counters::Count& count) {
        all.count(ended, count.read(), {{"sessionq.outcome", outcome}});
    };
    ended_as("completed", counters.messages_completed);
    ended_as("abandoned", counters.messages_abandoned);
    ended_as("dead_lettered", counters.messages_dead_lettered);
    ended_as("deferred", counters.messages_deferred);
    ended_as("released", counters.messages_released);
    ended_as("lost", counters.messages_lost);
    all.count({"sessionq.message.expired", "Messages past their own deadline.", "{message}"},
              counters.messages_expired.read());
    all.count({"sessionq.message.retries", "Attempts in place after the first.", "{message}"},
              counters.messages_retried.read());
    all.count(
        {"sessionq.message.redelivered", "Messages that had been delivered before.", "{message}"},
        counters.messages_redelivered.read());
    all.count(
        {"sessionq.settlement.failures", "Settlements that the broker rejected.", "{message}"},
        counters.settlement_failures.read());
}

void count_sessions(core::MetricList& all, const Counters& counters) {
    constexpr core::MetricName accepts{"sessionq.accept.answers", "Answers to accepts.",
                                       "{accept}"};
    all.count({"sessionq.session.opened", "Sessions opened.", "{session}"},
              counters.sessions_opened.read());
    for (std::size_t i = 0; i < close_reasons; ++i) {
        all.count({"sessionq.session.closed", "Sessions left, by reason.", "{session}"},
                  counters.sessions_closed[i].read(),
                  {{"sessionq.close_reason", std::string{to_string(static_cast<CloseReason>(i))}}});
    }
    all.count({"sessionq.session.parked", "Sessions parked without a slot.", "{session}"},
              counters.sessions_parked.read());
    all.count({"sessionq.lock.lost", "Locks that were lost.", "{lock}"},
              counters.locks_lost.read());
    all.count({"sessionq.lock.renewals", "Locks that were renewed.", "{lock}"},
              counters.lock_renewals.read());
    const auto answered_with = [&](const char* result, const Counters::Count& count) {
        all.count(accepts, count.read(), {{"sessionq.result", result}});
    };
    answered_with("session", counters.sessions_accepted);
    answered_with("empty", counters.empty_accepts);
    answered_with("failed", counters.accept_failures);
    answered_with("late", counters.late_accepts);
    answered_with("surplus", counters.surplus_accepts);
}

void add_lengths(core::MetricList& all, const Meters& meters) {
    constexpr core::MetricName process{"messaging.process.duration", "How long handlers ran.", "s"};
    constexpr core::MetricName margin{"sessionq.lock.margin",
                                      "Time left of a lock when it was used.", "s"};
    all.lengths(process, histogram_of(meters.returned), {{"messaging.operation.name", "process"}});
    all.lengths(process, histogram_of(meters.failed),
                {{"messaging.operation.name", "process"}, {"error.type", "handler_failed"}});
    all.lengths(
        {"messaging.client.operation.duration", "From a request to the broker's answer.", "s"},
        histogram_of(meters.settle),
        {{"messaging.operation.name", "settle"}, {"messaging.operation.type", "settle"}});
    all.lengths({"sessionq.message.ready_wait",
                 "From a message's arrival to its handler, if it was first in its session.", "s"},
                histogram_of(meters.ready_wait));
    all.lengths({"sessionq.accept.wait", "From an accept to its session.", "s"},
                histogram_of(meters.accept_wait));
    all.lengths({"sessionq.roll.latency", "From leaving a session to the start of the next.", "s"},
                histogram_of(meters.roll));
    all.lengths(margin, histogram_of(meters.renew_margin), {{"sessionq.lock.use", "renew"}});
    all.lengths(margin, histogram_of(meters.settle_margin), {{"sessionq.lock.use", "settle"}});
    all.lengths({"sessionq.session.hold", "How long sessions were held.", "s"},
                histogram_of(meters.hold));
}

/// Sums over all sessions, with and without a slot.
struct Sums {
    double ready{0};
    Duration ready_for{};
    double in_flight{0};
    double window{0};
    double running{0};

    void add(const std::vector<SlotDescription>& sessions) {
        for (const SlotDescription& each : sessions) {
            ready += each.ready_for > Duration::zero() ? 1 : 0;
            ready_for = std::max(ready_for, each.ready_for);
            in_flight += each.in_flight;
            window += each.window;
            running += each.running;
        }
    }
};

} // namespace

ProcessorMetrics::ProcessorMetrics(std::string_view system, std::string_view client_id,
                                   const std::vector<std::string>& entities)
    : common_{attributes_of(system, client_id, entities)} {}

void ProcessorMetrics::add(const Meters& meters) {
    core::MetricList all{common_};
    count_messages(all, meters.counters);
    count_sessions(all, meters.counters);
    add_lengths(all, meters);
    metrics_ += all.take();
}

void ProcessorMetrics::add(const ProcessorDescription& described) {
    constexpr core::MetricName without_slot{"sessionq.session.without_slot",
                                            "Sessions held without a slot.", "{session}"};
    core::MetricList all{common_};
    for (const SlotDescription& slot : described.slots) {
        all.gauge({"sessionq.slot.count", "Slots, by state.", "{slot}"}, 1,
                  {{"sessionq.state", slot.state}});
    }
    const auto count = [](const auto& sessions) { return static_cast<double>(sessions.size()); };
    all.gauge(without_slot, count(described.parked), {{"sessionq.state", "parked"}});
    all.gauge(without_slot, count(described.settling), {{"sessionq.state", "settling"}});
    Sums sums;
    sums.add(described.slots);
    sums.add(described.parked);
    sums.add(described.settling);
    all.gauge({"sessionq.session.ready", "Sessions that wait for a worker.", "{session}"},
              sums.ready);
    all.gauge({"sessionq.session.ready.age", "How long the first of them has waited.", "s"},
              Histogram::Seconds{sums.ready_for}.count());
    all.gauge({"sessionq.message.in_flight", "Messages received and not finished.", "{message}"},
              sums.in_flight);
    all.gauge({"sessionq.message.window", "Most messages that may be fetched now.", "{message}"},
              sums.window);
    all.gauge({"sessionq.message.running", "Messages whose handlers run.", "{message}"},
              sums.running);
    all.gauge({"sessionq.buffer.usage", "Bytes that count against max_buffered_bytes.", "By"},
              static_cast<double>(described.buffered_bytes));
    metrics_ += all.take();
}

void ProcessorMetrics::add(const Health& health) {
    core::MetricList all{common_};
    for (const auto state :
         {Health::State::healthy, Health::State::degraded, Health::State::failed}) {
        all.gauge({"sessionq.processor.health", "Processors, by their health.", "{processor}"},
                  health.state == state ? 1 : 0,
                  {{"sessionq.state", std::string{to_string(state)}}});
    }
    for (const HealthReason& reason : health.reasons) {
        all.gauge({"sessionq.health.reason", "Reasons why it is not healthy.", "{reason}"}, 1,
                  {{"sessionq.cause", std::string{to_string(reason.cause)}}});
    }
    metrics_ += all.take();
}

void ProcessorMetrics::add(const Backlog& backlog) {
    constexpr core::MetricName messages{"sessionq.entity.messages", "Messages at the broker.",
                                        "{message}"};
    core::MetricList all{common_};
    const auto count = [&](const char* state, std::size_t value) {
        all.gauge(messages, static_cast<double>(value), {{"sessionq.state", state}});
    };
    count("active", backlog.active);
    count("deferred", backlog.deferred);
    count("scheduled", backlog.scheduled);
    all.gauge({"sessionq.entity.sessions.waiting", "Sessions with messages that nobody holds.",
               "{session}"},
              static_cast<double>(backlog.waiting_sessions));
    all.gauge(
        {"sessionq.entity.sessions.waiting.age", "How long the first of them has waited.", "s"},
        Histogram::Seconds{backlog.waiting_for}.count());
    metrics_ += all.take();
}

} // namespace sessionq::detail::processor
