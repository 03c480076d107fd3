// SPDX-License-Identifier: MIT
#include "processor/report/health_board.hpp"

#include <algorithm>

namespace sessionq::detail::processor {

void add_reason(std::vector<HealthReason>& reasons, HealthReason reason) {
    const auto same = std::find_if(reasons.begin(), reasons.end(), [&](const HealthReason& each) {
        return each.cause == reason.cause && each.entity == reason.entity;
    });
    if (same == reasons.end()) {
        reasons.push_back(std::move(reason));
        return;
    }
    reason.count += same->count;
    if (same->since >= reason.since) {
        same->count = reason.count;
    } else {
        *same = std::move(reason);
    }
}

Health merged(const std::vector<Health>& parts) {
    Health whole;
    bool all_failed = !parts.empty();
    for (const Health& part : parts) {
        all_failed = all_failed && part.state == Health::State::failed;
        for (const HealthReason& reason : part.reasons) {
            add_reason(whole.reasons, reason);
        }
    }
    if (!whole.reasons.empty()) {
        whole.state = all_failed ? Health::State::failed : Health::State::degraded;
    }
    return whole;
}

bool HealthNews::is_news(const Health& health) {
    std::vector<std::pair<HealthCause, std::string>> causes;
    for (const HealthReason& each : health.reasons) {
        causes.emplace_back(each.cause, each.entity);
    }
    std::sort(causes.begin(), causes.end());
    const bool is_new = health.state != told_state_ || causes != told_;
    told_state_ = health.state;
    told_ = std::move(causes);
    return is_new;
}

} // namespace sessionq::detail::processor
