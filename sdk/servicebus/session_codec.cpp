// SPDX-License-Identifier: MIT
#include "servicebus/session_codec.hpp"

#include <utility>

#include "amqp/codec/encoder.hpp"
#include "amqp/codec/property_value.hpp"

namespace sessionq::detail::servicebus {
namespace {

using amqp::Map;
using amqp::OutcomeKind;
using amqp::Value;

Map to_map(const Properties& properties) {
    Map map;
    for (const auto& [name, value] : properties) {
        map.emplace_back(name, amqp::to_value(value));
    }
    return map;
}

void add(Map& map, std::string_view key, Value value) { map.emplace_back(key, std::move(value)); }

/// As the service spells it.
std::string_view disposition_status(ports::Outcome outcome) {
    switch (outcome) {
    case ports::Outcome::complete: return "completed";
    case ports::Outcome::defer: return "defered";
    case ports::Outcome::dead_letter: return "suspended";
    default: return "abandoned";
    }
}

constexpr std::uint8_t uuid_code = 0x98;

Failure not_renewed(const Response& response) {
    Failure why = response.to_failure("the lock was not renewed");
    if (response.status == 410 || response.status == 404) {
        why.code = Errc::lock_lost;
    }
    return why;
}

} // namespace

amqp::Outcome to_outcome(const ports::Settlement& settlement) {
    if (settlement.outcome == ports::Outcome::complete) {
        return {.kind = OutcomeKind::accepted};
    }
    if (settlement.outcome == ports::Outcome::release) {
        return {.kind = OutcomeKind::released};
    }
    Map properties = to_map(settlement.properties_to_modify);
    if (settlement.outcome == ports::Outcome::dead_letter) {
        properties.insert(properties.begin(),
                          {{"DeadLetterReason", settlement.dead_letter.reason},
                           {"DeadLetterErrorDescription", settlement.dead_letter.description}});
        return {.kind = OutcomeKind::rejected,
                .error = {.name = "com.microsoft:dead-letter",
                          .info = amqp::encode(Value{std::move(properties)})}};
    }
    Map annotations;
    for (auto& [name, value] : properties) {
        annotations.emplace_back(Value::symbol(name.text().value_or("")), std::move(value));
    }
    return {.kind = OutcomeKind::modified,
            .undeliverable_here = settlement.outcome == ports::Outcome::defer,
            .annotations =
                annotations.empty() ? std::string{} : amqp::encode(Value{std::move(annotations)})};
}

Map to_disposition(const core::Uuid& lock_token, const ports::Settlement& settlement) {
    Map body;
    add(body, "lock-tokens", amqp::Array{.element = uuid_code, .items = {Value{lock_token}}});
    add(body, "disposition-status", disposition_status(settlement.outcome));
    if (settlement.outcome == ports::Outcome::dead_letter) {
        add(body, "deadletter-reason", settlement.dead_letter.reason);
        add(body, "deadletter-description", settlement.dead_letter.description);
    }
    if (!settlement.properties_to_modify.empty()) {
        add(body, "properties-to-modify", to_map(settlement.properties_to_modify));
    }
    return body;
}

std::optional<Failure> settlement_failure(const core::Result<Response>& answer) {
    if (!answer.ok()) {
        return answer.failure();
    }
    if (!answer.value().is_success()) {
        return answer.value().to_failure("the settlement was rejected");
    }
    return std::nullopt;
}

Map to_renewal(const std::vector<core::Uuid>& lock_tokens) {
    return {{"lock-tokens",
             amqp::Array{.element = uuid_code, .items = {lock_tokens.begin(), lock_tokens.end()}}}};
}

core::Result<std::vector<WallTime>> read_expirations(const Response& response, std::size_t wanted) {
    if (!response.is_success()) {
        return not_renewed(response);
    }
    std::vector<WallTime> times;
    for (const Value& each : response.items("expirations")) {
        if (const auto time = each.integer()) {
            times.push_back(amqp::Timestamp{*time}.time());
        }
    }
    if (times.size() != wanted) {
        return Failure{.code = Errc::protocol_error,
                       .detail = "the answer to a renewal has " + std::to_string(times.size()) +
                                 " expirations for " + std::to_string(wanted) + " locks"};
    }
    return times;
}

core::Result<WallTime> read_expiration(const Response& response) {
    if (!response.is_success()) {
        return not_renewed(response);
    }
    const Value* until = response.body.find("expiration");
    const auto time = until != nullptr ? until->integer() : std::nullopt;
    if (!time) {
        return Failure{.code = Errc::protocol_error,
                       .detail = "the answer to a renewal has no expiration"};
    }
    return amqp::Timestamp{*time}.time();
}

core::Result<core::Done> read_state_change(const Response& response) {
    if (!response.is_success()) {
        return response.to_failure("the session state");
    }
    return core::Done{};
}

core::Result<std::optional<std::string>> read_state(const Response& response) {
    if (!response.is_success()) {
        return response.to_failure("the session state");
    }
    const auto bytes = bytes_of(response.body, "session-state");
    return bytes ? std::optional{std::string{*bytes}} : std::nullopt;
}

core::Result<std::vector<DeferredMessage>> read_deferred(const Response& response,
                                                         std::size_t wanted,
                                                         const amqp::ClockReading& at) {
    if (!response.is_success()) {
        return response.to_failure("deferred messages", Errc::message_not_found);
    }
    std::vector<DeferredMessage> read;
    for (const Value& each : response.items("messages")) {
        const Value* token = each.find("lock-token");
        const std::string_view bytes = bytes_of(each, "message").value_or("");
        auto received = amqp::decode_delivery(bytes, at);
        if (!received.ok()) {
            return received.failure(); // it exists
        }
        const auto* uuid = token != nullptr ? token->as<core::Uuid>() : nullptr;
        const core::Uuid lock_token =
            uuid != nullptr ? *uuid : received.value().lock_token.value_or(core::Uuid{});
        received.value().lock_token = lock_token;
        read.push_back({.received = std::move(received).value(),
                        .bytes = bytes.size(),
                        .lock_token = lock_token});
    }
    if (read.size() != wanted) {
        return Failure{.code = Errc::message_not_found,
                       .detail = "some of the deferred messages do not exist"};
    }
    return read;
}

} // namespace sessionq::detail::servicebus
