// SPDX-License-Identifier: MIT
#include "groups/conditions.hpp"

#include <array>
#include <utility>

#include "amqp/condition_failure.hpp"

namespace sessionq::groups {
namespace {

using Row = amqp::ConditionRow;

constexpr std::array rows{
    Row{"amqp:resource-deleted", Errc::entity_not_found},
    Row{"amqp:not-allowed", Errc::unauthorized},
    Row{"amqp:resource-locked", Errc::session_locked_elsewhere},
};

} // namespace

Failure to_failure(const amqp::Condition& condition, std::string what) {
    return amqp::to_failure(condition, std::move(what), rows);
}

Failure loss_from(Failure why) {
    if (why.code != Errc::entity_not_found && why.code != Errc::unauthorized) {
        why.code = Errc::connection_lost;
    }
    return why;
}

amqp::Condition unanswered_drain() {
    return {.name = "amqp:link:detach-forced",
            .text = "the broker did not answer a drain",
            .found = Errc::timeout};
}

Failure no_more_links(const std::string& entity) {
    return {.code = Errc::resource_exhausted,
            .detail =
                "'" + entity + "': the broker allows no more AMQP sessions on this connection"};
}

} // namespace sessionq::groups
