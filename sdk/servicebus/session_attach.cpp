// SPDX-License-Identifier: MIT
#include "servicebus/session_attach.hpp"

#include <algorithm>
#include <utility>

#include "amqp/codec/decoder.hpp"
#include "amqp/codec/encoder.hpp"
#include "amqp/codec/lock_token.hpp"

namespace sessionq::detail::servicebus {
namespace {

using amqp::Value;

constexpr std::string_view session_filter = "com.microsoft:session-filter";
constexpr std::string_view locked_until = "com.microsoft:locked-until-utc";

std::string encode_map(std::string_view key, Value value) {
    return amqp::encode(Value::map({{Value::symbol(key), std::move(value)}}));
}

/// The properties of the link. A broker that has no priorities leaves theirs aside.
std::string link_properties(const ports::AcceptRequest& request) {
    amqp::Map properties;
    if (request.scope == ports::Scope::session && !request.session_id) {
        const auto wait = std::clamp<std::int64_t>(
            std::chrono::ceil<std::chrono::milliseconds>(request.wait).count(), 1, 0xffffffff);
        properties.emplace_back(Value::symbol("com.microsoft:timeout"),
                                static_cast<std::uint32_t>(wait));
    }
    if (request.priority != 0) {
        properties.emplace_back(Value::symbol("priority"),
                                static_cast<std::int32_t>(request.priority));
    }
    return properties.empty() ? std::string{} : amqp::encode(Value{std::move(properties)});
}

/// Which session is wanted. None for an entity without sessions.
std::string session_wanted(const ports::AcceptRequest& request) {
    return request.scope == ports::Scope::entity
               ? std::string{}
               : encode_map(session_filter,
                            request.session_id ? Value{*request.session_id} : Value{});
}

std::optional<WallTime> time_in(const std::optional<Value>& properties, std::string_view name) {
    const Value* ticks = properties ? properties->find(name) : nullptr;
    const auto number = ticks != nullptr ? ticks->integer() : std::nullopt;
    return number ? std::optional{amqp::time_of(*number)} : std::nullopt;
}

} // namespace

amqp::Attach to_attach(const ports::AcceptRequest& request, const std::string& name) {
    const bool removes = request.mode == ports::ReceiveMode::receive_and_delete;
    return {.source = {.address = request.entity, .filter = session_wanted(request)},
            .target = {.address = name},
            .sender_mode =
                removes ? amqp::SenderSettleMode::settled : amqp::SenderSettleMode::unsettled,
            .receiver_mode =
                removes ? amqp::ReceiverSettleMode::first : amqp::ReceiverSettleMode::second,
            .properties = link_properties(request)};
}

std::optional<std::string> granted_session(const amqp::Attach& answer) {
    const auto filter = amqp::decode(answer.source.filter);
    const Value* said = filter ? filter->find(session_filter) : nullptr;
    if (said != nullptr && said->described() != nullptr) {
        said = &said->described()->value;
    }
    const auto id = said != nullptr ? said->text() : std::nullopt;
    return id ? std::optional{std::string{*id}} : std::nullopt;
}

GrantTimes grant_times(const amqp::Attach& answer) {
    const auto properties = amqp::decode(answer.properties);
    return {.locked_until = time_in(properties, locked_until),
            .granted_at = time_in(properties, amqp::broker_time)};
}

} // namespace sessionq::detail::servicebus
