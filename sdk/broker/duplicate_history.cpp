// SPDX-License-Identifier: MIT
#include "broker/duplicate_history.hpp"

namespace sessionq::broker {

std::optional<std::int64_t> DuplicateHistory::find(std::string_view message_id, TimePoint now) {
    forget_old(now);
    const auto at = taken_.find(message_id);
    return at == taken_.end() ? std::nullopt : std::optional{at->second};
}

void DuplicateHistory::remember(std::string_view message_id, std::int64_t sequence,
                                TimePoint until) {
    const auto [at, is_new] = taken_.emplace(message_id, sequence);
    if (is_new) {
        by_age_.push_back({until, &at->first});
        bytes_ += message_id.size() + beside_an_id;
    }
}

void DuplicateHistory::forget_old(TimePoint now) {
    while (!by_age_.empty() && by_age_.front().until <= now) {
        if (const auto oldest = taken_.find(*by_age_.front().id); oldest != taken_.end()) {
            bytes_ -= oldest->first.size() + beside_an_id;
            taken_.erase(oldest);
        }
        by_age_.pop_front();
    }
}

} // namespace sessionq::broker
