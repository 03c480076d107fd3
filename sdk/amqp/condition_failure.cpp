// SPDX-License-Identifier: MIT
#include "amqp/condition_failure.hpp"

#include <algorithm>
#include <array>

#include "core/peer_words.hpp"

namespace sessionq::amqp {
namespace {

constexpr std::array standard{
    ConditionRow{"amqp:not-found", Errc::entity_not_found},
    ConditionRow{"amqp:not-implemented", Errc::not_supported},
    ConditionRow{"amqp:unauthorized-access", Errc::unauthorized},
    ConditionRow{"amqp:resource-limit-exceeded", Errc::quota_exceeded},
    ConditionRow{"amqp:link:message-size-exceeded", Errc::message_too_large},
    ConditionRow{"amqp:link:transfer-limit-exceeded", Errc::quota_exceeded},
    ConditionRow{"amqp:link:detach-forced", Errc::connection_lost},
    ConditionRow{"amqp:link:stolen", Errc::lock_lost},
    ConditionRow{"amqp:connection:forced", Errc::connection_lost},
    ConditionRow{"amqp:internal-error", Errc::connection_lost},
};

const ConditionRow* find(std::span<const ConditionRow> rows, std::string_view name) {
    const auto found = std::ranges::find(rows, name, &ConditionRow::first);
    return found != rows.end() ? &*found : nullptr;
}

} // namespace

Failure to_failure(const Condition& condition, std::string what,
                   std::span<const ConditionRow> dialect) {
    if (condition.found) { // our own words to the peer: we know their meaning
        return {.code = *condition.found, .detail = std::move(what) + ": " + condition.text};
    }
    if (condition.empty()) {
        return {.code = Errc::connection_lost,
                .detail = std::move(what) + ": the broker gave no reason"};
    }
    const ConditionRow* found = find(dialect, condition.name);
    found = found != nullptr ? found : find(standard, condition.name);
    return {.code = found != nullptr ? found->second : Errc::protocol_error,
            .detail = std::move(what),
            .peer_condition = core::peer_words(condition.name),
            .peer_text = core::peer_words(condition.text)};
}

} // namespace sessionq::amqp
