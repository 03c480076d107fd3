// SPDX-License-Identifier: MIT
#include "server/conditions.hpp"

#include <string>

#include "amqp/codec/encoder.hpp"

namespace sessionq::server {
namespace {

std::string_view name_of(Errc code, LockKind lock) noexcept {
    switch (code) {
    case Errc::no_session_available:
    case Errc::timeout: return condition::timeout;
    case Errc::session_locked_elsewhere: return condition::session_cannot_be_locked;
    case Errc::lock_lost:
        return lock == LockKind::session ? condition::session_lock_lost
                                         : condition::message_lock_lost;
    case Errc::already_settled: return condition::message_lock_lost;
    case Errc::message_not_found: return condition::message_not_found;
    case Errc::entity_not_found: return condition::not_found;
    case Errc::duplicate_entity: return condition::entity_already_exists;
    case Errc::entity_disabled: return condition::entity_disabled;
    case Errc::session_required:
    case Errc::not_supported: return condition::not_allowed;
    case Errc::unauthorized: return condition::unauthorized_access;
    case Errc::quota_exceeded: return condition::resource_limit_exceeded;
    case Errc::message_too_large: return condition::message_size_exceeded;
    case Errc::server_busy: return condition::server_busy;
    case Errc::invalid_argument: return condition::argument_error;
    case Errc::protocol_error: return condition::decode_error;
    default: return condition::internal_error;
    }
}

} // namespace

// `info` is an empty map, not absent. A client reads the three fields of an error by position, also
// inside outcomes.
amqp::Condition make_condition(std::string_view name, std::string_view text) {
    return {
        .name = std::string{name}, .text = std::string{text}, .info = amqp::encode(amqp::Map{})};
}

amqp::Condition condition_of(const Failure& failure, LockKind lock) {
    const std::string_view name = name_of(failure.code, lock);
    if (failure.code == Errc::entity_not_found) {
        return make_condition(name, "The messaging entity could not be found: " + failure.detail);
    }
    if (name == condition::message_lock_lost) {
        return make_condition(name, "The lock supplied is invalid. Either the lock expired, or the "
                                    "message has already been removed from the queue.");
    }
    return make_condition(name, failure.detail.empty() ? std::string{to_string(failure.code)}
                                                       : failure.detail);
}

amqp::Condition entity_not_found(std::string_view entity) {
    return make_condition(condition::not_found,
                          "The messaging entity '" + std::string{entity} + "' could not be found.");
}

std::int32_t status_of(Errc code) noexcept {
    switch (code) {
    case Errc::invalid_argument:
    case Errc::session_required:
    case Errc::protocol_error: return 400;
    case Errc::unauthorized: return 401;
    case Errc::quota_exceeded:
    case Errc::message_too_large: return 403;
    case Errc::message_not_found:
    case Errc::entity_not_found: return 404;
    case Errc::duplicate_entity: return 409;
    case Errc::lock_lost:
    case Errc::already_settled: return 410;
    case Errc::not_supported: return 501;
    case Errc::server_busy: return 503;
    default: return 500;
    }
}

} // namespace sessionq::server
