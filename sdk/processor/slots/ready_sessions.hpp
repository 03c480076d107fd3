// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <optional>

#include "ports/endpoint.hpp"
#include "processor/slots/target_book.hpp"

namespace sessionq::detail::processor {

/// Adds up the ready sessions of all entities. `SlotTable` uses them for fairness, `AcceptTable`
/// for health. Returns nothing if the broker does not report them. Also returns nothing if the
/// processor has named sessions, because the ready sessions may have other names.
[[nodiscard]] inline std::optional<ports::ReadySessions> ready_sessions(const TargetBook& targets,
                                                                        ports::Endpoint& endpoint) {
    ports::ReadySessions all;
    for (std::size_t i = 0; i < targets.size(); ++i) {
        for (std::size_t at = 0; at <= targets[i].further_entities.size(); ++at) {
            const auto here = endpoint.ready_sessions(targets[i].entity_at(at));
            if (!here || targets.named()) {
                return std::nullopt;
            }
            all.count += here->count;
            all.since = std::min(all.since, here->since);
        }
    }
    return all;
}

} // namespace sessionq::detail::processor
