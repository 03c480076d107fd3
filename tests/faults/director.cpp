// SPDX-License-Identifier: MIT
#include "faults/director.hpp"

#include <algorithm>

namespace sessionq::faults {

std::vector<AppliedFault> Director::due(TimePoint now,
                                        const std::vector<std::uint64_t>& connections) {
    std::vector<AppliedFault> applied;
    for (; next_ < script_.size() && start_ + script_[next_].at <= now; ++next_) {
        strike(script_[next_], now, connections, applied);
    }
    while (!later_.empty() && later_.begin()->first <= now) {
        applied.push_back(later_.begin()->second);
        later_.erase(later_.begin());
    }
    return applied;
}

TimePoint Director::next_due() const noexcept {
    TimePoint next = later_.empty() ? TimePoint::max() : later_.begin()->first;
    if (next_ < script_.size()) {
        next = std::min(next, start_ + script_[next_].at);
    }
    return next;
}

std::vector<std::uint64_t> Director::choose(std::size_t count,
                                            std::vector<std::uint64_t> connections) {
    for (std::size_t i = connections.size(); i > 1; --i) {
        std::swap(connections[i - 1], connections[random_.below(i)]);
    }
    if (count != 0 && count < connections.size()) {
        connections.resize(count);
    }
    return connections;
}

void Director::strike(const Fault& fault, TimePoint now,
                      const std::vector<std::uint64_t>& connections,
                      std::vector<AppliedFault>& applied) {
    const auto set_door = [&](Door door) {
        door_ = door;
        door_until_ = now + fault.length;
        ++counts_[fault.kind];
    };
    switch (fault.kind) {
    case FaultKind::refuse: set_door(Door::shut); return;
    case FaultKind::reject: set_door(Door::rejects); return;
    case FaultKind::swallow: set_door(Door::swallows); return;
    default: break;
    }
    const std::vector<std::uint64_t> victims = choose(fault.count, connections);
    if (victims.empty()) {
        return;
    }
    ++counts_[fault.kind];
    if (fault.kind == FaultKind::clog) {
        clog(fault, now, victims);
        return;
    }
    for (const std::uint64_t victim : victims) {
        applied.push_back({.connection = victim, .fault = fault, .until = now + fault.length});
    }
}

/// Stalls one victim after another in the first half of the time. Releases each at a random instant
/// of the second half.
void Director::clog(const Fault& fault, TimePoint now, const std::vector<std::uint64_t>& victims) {
    const Duration half = fault.length / 2;
    for (std::size_t i = 0; i < victims.size(); ++i) {
        const TimePoint begins =
            now + half * static_cast<Duration::rep>(i) / static_cast<Duration::rep>(victims.size());
        const TimePoint ends = now + half +
                               Duration{static_cast<Duration::rep>(
                                   random_.below(static_cast<std::uint64_t>(half.count()) + 1))};
        later_.emplace(begins, AppliedFault{.connection = victims[i],
                                            .fault = {.kind = FaultKind::stall, .way = Way::both},
                                            .until = ends});
    }
}

} // namespace sessionq::faults
