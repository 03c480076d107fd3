// SPDX-License-Identifier: MIT
#include "servicebus/conditions.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "amqp/condition_failure.hpp"

namespace sessionq::detail::servicebus {
namespace {

using Row = amqp::ConditionRow;

constexpr std::array rows{
    Row{"com.microsoft:timeout", Errc::timeout},
    Row{"com.microsoft:session-cannot-be-locked", Errc::session_locked_elsewhere},
    Row{"com.microsoft:session-lock-lost", Errc::lock_lost},
    Row{"com.microsoft:message-lock-lost", Errc::lock_lost},
    Row{"com.microsoft:message-not-found", Errc::message_not_found},
    Row{"com.microsoft:session-not-found", Errc::session_not_found},
    Row{"com.microsoft:entity-already-exists", Errc::duplicate_entity},
    Row{"com.microsoft:entity-disabled", Errc::entity_disabled},
    Row{"com.microsoft:server-busy", Errc::server_busy},
    Row{"com.microsoft:auth-failed", Errc::unauthorized},
    Row{"com.microsoft:argument-error", Errc::invalid_argument},
    Row{"com.microsoft:argument-out-of-range", Errc::invalid_argument},
    Row{"com.microsoft:operation-cancelled", Errc::cancelled},
    Row{"amqp:not-allowed", Errc::session_required},
};

/// Brokers use one condition for everything that an entity does not allow, mostly because of
/// sessions. An operation that no entity of its kind
/// has is `not_supported`.
bool is_about_kind(const amqp::Condition& condition) {
    const auto says = [&condition](std::string_view words) {
        return condition.text.find(words) != std::string::npos;
    };
    const bool is_about_sessions =
        says("require sessions") || says("requires sessions") || says("SessionId");
    return condition.name == "amqp:not-allowed" && !condition.found && !is_about_sessions &&
           (says("topic") || says("subscription") || says("sub-queue") || says("forwarded to"));
}

} // namespace

Failure to_failure(const amqp::Condition& condition, std::string what) {
    Failure why = amqp::to_failure(condition, std::move(what), rows);
    why.code = is_about_kind(condition) ? Errc::not_supported : why.code;
    return why;
}

Failure to_loss(const amqp::Condition& condition, std::string what) {
    Failure why = to_failure(condition, std::move(what));
    if (why.code != Errc::lock_lost && why.code != Errc::entity_not_found &&
        why.code != Errc::entity_disabled && why.code != Errc::unauthorized) {
        why.code = Errc::connection_lost;
    }
    return why;
}

} // namespace sessionq::detail::servicebus
