// SPDX-License-Identifier: MIT
#include "server/settlement.hpp"

#include <string>

#include "amqp/codec/encoder.hpp"
#include "amqp/codec/property_value.hpp"

namespace sessionq::server {
namespace {

constexpr std::string_view reason_key = "DeadLetterReason";
constexpr std::string_view description_key = "DeadLetterErrorDescription";

broker::Changes& changes_of(SettlementDecision& decision) {
    if (!decision.changes) {
        decision.changes = std::make_unique<broker::Changes>();
    }
    return *decision.changes;
}

void read_encoded(std::string_view encoded, SettlementDecision& decision) {
    if (const auto map = encoded.empty() ? std::nullopt : amqp::decode(encoded)) {
        read_changes(*map, changes_of(decision));
    }
}

} // namespace

std::optional<SettlementDecision> decide_settlement(const amqp::Outcome& said, bool settled) {
    SettlementDecision decision;
    switch (said.kind) {
    case amqp::OutcomeKind::accepted: decision.outcome = broker::Outcome::complete; return decision;
    case amqp::OutcomeKind::released: decision.outcome = broker::Outcome::release; return decision;
    case amqp::OutcomeKind::
        modified: // delivery-failed is ignored, because clients abandon with and without it
        decision.outcome =
            said.undeliverable_here ? broker::Outcome::defer : broker::Outcome::abandon;
        read_encoded(said.annotations, decision);
        return decision;
    case amqp::OutcomeKind::rejected:
        decision.outcome = broker::Outcome::dead_letter;
        read_encoded(said.error.info, decision);
        if (!said.error.text.empty()) {
            set_reasons(changes_of(decision), {}, said.error.text, false);
        }
        return decision;
    default: break;
    }
    if (!settled) {
        return std::nullopt;
    }
    decision.outcome = broker::Outcome::release;
    return decision;
}

amqp::Outcome answer_settlement(const amqp::Outcome& said, std::optional<Errc> failed_with,
                                LockKind lock) {
    if (failed_with) {
        return {.kind = amqp::OutcomeKind::rejected,
                .error = condition_of({.code = *failed_with}, lock)};
    }
    amqp::Outcome answer{.kind = said.kind};
    answer.delivery_failed = said.delivery_failed;
    answer.undeliverable_here = said.undeliverable_here;
    return answer;
}

void set_reasons(broker::Changes& changes, std::string_view reason, std::string_view description,
                 bool replaces) {
    DeadLetterInfo info = changes.dead_letter ? *changes.dead_letter : DeadLetterInfo{};
    const auto set = [replaces](std::string& text, std::string_view to) {
        if (!to.empty() && (replaces || text.empty())) {
            text = to;
        }
    };
    set(info.reason, reason);
    set(info.description, description);
    changes.dead_letter = std::make_shared<const DeadLetterInfo>(std::move(info));
}

void read_changes(const amqp::Value& map, broker::Changes& to) {
    const auto* entries = map.as<amqp::Map>();
    if (entries == nullptr) {
        return;
    }
    for (const auto& [key, value] : *entries) {
        const auto name = key.text();
        if (!name) {
            continue;
        }
        const auto text = value.text();
        if (text && *name == reason_key) {
            set_reasons(to, *text, {}, true);
        } else if (text && *name == description_key) {
            set_reasons(to, {}, *text, true);
        } else { // also a reason of another type, which stays a property of this type
            to.properties.insert_or_assign(std::string{*name}, amqp::to_property(value));
            to.encoded.insert_or_assign(std::string{*name}, amqp::encode(value));
        }
    }
}

} // namespace sessionq::server
