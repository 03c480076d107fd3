// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <optional>

#include "ports/endpoint.hpp"
#include "processor/slots/target_book.hpp"

namespace sessionq::processor {

/// Adds up the sessions that are ready at all entities. `SlotTable` needs them for fairness,
/// `AcceptTable` for health. Unset: the broker does not report them, or the processor has named
/// sessions and the ready ones may have other names.
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

} // namespace sessionq::processor
