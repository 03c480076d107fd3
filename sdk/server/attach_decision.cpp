// SPDX-License-Identifier: MIT
#include "server/attach_decision.hpp"

#include <algorithm>
#include <limits>

#include "amqp/codec/encoder.hpp"
#include "server/address.hpp"
#include "server/conditions.hpp"

namespace sessionq::server {
namespace {

constexpr std::int64_t max_wait_milliseconds = std::int64_t{24} * 3600 * 1000;

AttachDecision refuse(std::string_view name, std::string_view text) {
    return {.refusal = make_condition(name, text)};
}

void read_properties(std::string_view encoded, AttachDecision& decision) {
    const auto properties = encoded.empty() ? std::nullopt : amqp::decode(encoded);
    const auto number_of = [&](std::string_view name) {
        const amqp::Value* value = properties ? properties->find(name) : nullptr;
        return value != nullptr ? value->integer() : std::nullopt;
    };
    if (const auto wait = number_of("com.microsoft:timeout")) {
        decision.wait =
            std::chrono::milliseconds{std::clamp<std::int64_t>(*wait, 0, max_wait_milliseconds)};
    }
    if (const auto priority = number_of("priority")) {
        decision.priority = static_cast<int>(std::clamp<std::int64_t>(
            *priority, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()));
    }
}

} // namespace

AttachDecision decide_attach(const amqp::Attach& attach, bool peer_receives) {
    const amqp::Terminus& node = peer_receives ? attach.source : attach.target;
    if (node.dynamic) {
        return refuse(condition::not_implemented, "dynamic nodes are not supported");
    }
    if (node.coordinator) {
        return {.what = AttachDecision::What::transact};
    }
    if (node.present && node.address.empty() && !peer_receives) {
        return refuse(condition::not_implemented,
                      "the target has no address; an anonymous relay is not supported");
    }
    if (!node.present || node.address.empty()) {
        return refuse(condition::invalid_field,
                      peer_receives ? "the source has no address" : "the target has no address");
    }
    auto address = parse_address(node.address);
    if (!address) {
        return {.refusal = entity_not_found(node.address)};
    }
    if (address->kind == NodeAddress::Kind::claims) {
        return {.what = AttachDecision::What::claims};
    }
    if (address->kind == NodeAddress::Kind::management) {
        return {.what = AttachDecision::What::management, .entity = std::move(address->entity)};
    }
    if (!peer_receives) {
        return {.what = AttachDecision::What::send, .entity = std::move(address->entity)};
    }
    if (const std::string filter = find_unknown_filter(node.filter); !filter.empty()) {
        return refuse(condition::not_implemented, "the filter '" + filter + "' is not supported");
    }
    AttachDecision decision{.what = node.copies ? AttachDecision::What::browse
                                                : AttachDecision::What::receive,
                            .entity = std::move(address->entity),
                            .mode = attach.sender_mode == amqp::SenderSettleMode::settled
                                        ? broker::ReceiveMode::receive_and_delete
                                        : broker::ReceiveMode::peek_lock,
                            .session = read_session_filter(node.filter)};
    read_properties(attach.properties, decision);
    if (decision.session.wish == SessionFilter::Wish::unreadable) {
        return refuse(condition::not_implemented,
                      "the session filter is not supported; sessions are exclusive");
    }
    if (node.copies && decision.session.wish == SessionFilter::Wish::any) {
        return refuse(condition::not_implemented,
                      "a browser cannot ask for the next session; name one, or none for all");
    }
    return decision;
}

amqp::Condition check_receive(const AttachDecision& decision, bool requires_session) {
    const bool is_session_receiver = decision.session.wish != SessionFilter::Wish::none;
    if (is_session_receiver && !requires_session) {
        return make_condition(condition::not_allowed,
                              "A sessionful message receiver cannot be created on an entity that "
                              "does not require sessions. Ensure that "
                              "RequiresSession is set to true when a queue or subscription is "
                              "created to enable sessionful behavior.");
    }
    if (!is_session_receiver && requires_session) {
        return make_condition(condition::not_allowed,
                              "It is not possible for an entity that requires sessions to create a "
                              "non-sessionful message receiver.");
    }
    return {};
}

amqp::Attach echo_attach(const amqp::Attach& attach, std::uint64_t max_message_size) {
    amqp::Attach answer = attach;
    answer.properties.clear();
    answer.max_message_size = max_message_size;
    return answer;
}

} // namespace sessionq::server
