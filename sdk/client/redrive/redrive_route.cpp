// SPDX-License-Identifier: MIT
#include "client/redrive/redrive_route.hpp"

#include <string_view>
#include <utility>

#include "client/check.hpp"
#include "client/entity_path.hpp"
#include "core/ascii_case.hpp"
#include "core/id_check.hpp"

namespace sessionq::detail::client {
namespace {

void check_options(const RedriveOptions& options) {
    const auto fault = core::id_fault(options.filter.session_id.value_or(""));
    require_option(fault.empty(), "DeadLetterFilter::session_id " + std::string{fault});
    require_not_negative("DeadLetterFilter::older_than",
                         options.filter.older_than.value_or(Duration::zero()));
    require_not_negative("RedriveOptions::max_wait", options.max_wait);
}

} // namespace

RedriveRoute redrive_route(const ports::Capabilities& broker, std::string entity,
                           const RedriveOptions& options) {
    check_options(options);
    std::string dead_letters = entity_path(broker, entity, SubQueue::dead_letter);
    broker.require(ports::Capability::peek);
    const std::string lower = core::lower_case(entity);
    require_argument(!lower.ends_with("/$deadletterqueue"),
                     "'" + entity + "' is a sub-queue; name the entity that has it");
    const auto topic_end = lower.find("/subscriptions/");
    require_option(topic_end == std::string::npos || options.through_topic,
                   "RedriveOptions::through_topic is false, and '" + entity +
                       "' is a subscription, to which only its topic can send");
    return {.entity = entity,
            .dead_letters = dead_letters,
            .target = entity.substr(0, topic_end),
            .source = core::lower_case(dead_letters)};
}

} // namespace sessionq::detail::client
