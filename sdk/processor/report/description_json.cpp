// SPDX-License-Identifier: MIT
#include <sessionq/processor_report.hpp>

#include <nlohmann/json.hpp>

#include "core/peer_words.hpp"

namespace sessionq::inline v1 {
namespace {

double in_seconds(Duration length) { return std::chrono::duration<double>{length}.count(); }

nlohmann::ordered_json json_of(const Health& health) {
    auto reasons = nlohmann::ordered_json::array();
    for (const HealthReason& reason : health.reasons) {
        reasons.push_back({{"cause", to_string(reason.cause)},
                           {"entity", reason.entity},
                           {"session_id", reason.session_id},
                           {"detail", reason.detail},
                           {"count", reason.count},
                           {"since", in_seconds(reason.since)},
                           {"advice", advice(reason.cause)}});
    }
    return {{"state", to_string(health.state)}, {"reasons", std::move(reasons)}};
}

nlohmann::ordered_json json_of(const std::optional<ExecutorDescription>& executor) {
    if (!executor) {
        return nullptr;
    }
    return {{"waiting", executor->waiting}, {"running", executor->running}};
}

nlohmann::ordered_json json_of(const ProcessorCounters& counters) {
    return {{"messages_received", counters.messages_received},
            {"messages_redelivered", counters.messages_redelivered},
            {"messages_handled", counters.messages_handled},
            {"messages_failed", counters.messages_failed},
            {"messages_retried", counters.messages_retried},
            {"messages_expired", counters.messages_expired},
            {"messages_completed", counters.messages_completed},
            {"messages_abandoned", counters.messages_abandoned},
            {"messages_dead_lettered", counters.messages_dead_lettered},
            {"messages_deferred", counters.messages_deferred},
            {"messages_released", counters.messages_released},
            {"messages_lost", counters.messages_lost},
            {"sessions_opened", counters.sessions_opened},
            {"sessions_closed", counters.sessions_closed},
            {"sessions_parked", counters.sessions_parked},
            {"locks_lost", counters.locks_lost},
            {"empty_accepts", counters.empty_accepts},
            {"accept_failures", counters.accept_failures},
            {"late_accepts", counters.late_accepts},
            {"surplus_accepts", counters.surplus_accepts},
            {"settlement_failures", counters.settlement_failures},
            {"lock_renewals", counters.lock_renewals},
            {"longest_ready_wait", in_seconds(counters.longest_ready_wait)}};
}

nlohmann::ordered_json json_of(const std::vector<SlotDescription>& slots) {
    auto all = nlohmann::ordered_json::array();
    for (const SlotDescription& slot : slots) {
        all.push_back({{"entity", slot.entity},
                       {"session_id", slot.session_id},
                       {"state", slot.state},
                       {"waits_for", slot.waits_for},
                       {"since", in_seconds(slot.since)},
                       {"window", slot.window},
                       {"in_flight", slot.in_flight},
                       {"running", slot.running},
                       {"ready_for", in_seconds(slot.ready_for)}});
    }
    return all;
}

} // namespace

std::string ProcessorDescription::to_json() const {
    const nlohmann::ordered_json whole{{"state", sessionq::to_string(state)},
                                       {"entities", entities},
                                       {"health", json_of(health)},
                                       {"executor", json_of(executor)},
                                       {"buffered_bytes", buffered_bytes},
                                       {"counters", json_of(counters)},
                                       {"slots", json_of(slots)},
                                       {"parked", json_of(parked)},
                                       {"settling", json_of(settling)},
                                       {"session_hold", in_seconds(session_hold)},
                                       {"ready_bound", in_seconds(ready_bound)}};
    return core::escape_peer_words(
        whole.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

} // namespace sessionq::inline v1
