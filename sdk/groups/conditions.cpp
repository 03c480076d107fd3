#include "groups/conditions.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace sessionq::groups {
namespace {

using Row = std::pair<std::string_view, Errc>;

constexpr std::array rows{
    Row{"amqp:not-found", Errc::entity_not_found},
    Row{"amqp:resource-deleted", Errc::entity_not_found},
    Row{"amqp:unauthorized-access", Errc::unauthorized},
    Row{"amqp:not-implemented", Errc::not_supported},
    Row{"amqp:not-allowed", Errc::unauthorized},
    Row{"amqp:resource-limit-exceeded", Errc::quota_exceeded},
    Row{"amqp:resource-locked", Errc::session_locked_elsewhere},
    Row{"amqp:link:message-size-exceeded", Errc::message_too_large},
    Row{"amqp:link:transfer-limit-exceeded", Errc::quota_exceeded},
    Row{"amqp:link:detach-forced", Errc::connection_lost},
    Row{"amqp:link:stolen", Errc::lock_lost},
    Row{"amqp:connection:forced", Errc::connection_lost},
    Row{"amqp:internal-error", Errc::connection_lost},
};

} // namespace

Failure to_failure(const amqp::Condition& condition, std::string what) {
    if (condition.empty()) {
        return {.code = Errc::connection_lost,
                .detail = std::move(what) + ": the broker gave no reason"};
    }
    if (condition.found) {
        return {.code = *condition.found, .detail = std::move(what) + ": " + condition.text};
    }
    const auto found = std::find_if(rows.begin(), rows.end(),
                                    [&](const Row& row) { return row.first == condition.name; });
    const Errc code = found != rows.end() ? found->second : Errc::protocol_error;
    return {.code = code,
            .detail = std::move(what),
            .peer_condition = condition.name,
            .peer_text = condition.text};
}

} // namespace sessionq::groups
