// SPDX-License-Identifier: MIT
#include "tally.hpp"

#include <algorithm>
#include <iterator>

namespace replay {

bool OrdinalSet::insert(std::uint64_t ordinal) {
    if (ordinal <= filled_) {
        return false;
    }
    if (ordinal > filled_ + 1) {
        return beyond_.insert(ordinal).second;
    }
    ++filled_;
    while (!beyond_.empty() && *beyond_.begin() == filled_ + 1) {
        beyond_.erase(beyond_.begin());
        ++filled_;
    }
    return true;
}

std::uint64_t OrdinalSet::count_below(std::uint64_t ordinal) const noexcept {
    if (ordinal <= filled_ + 1) {
        return ordinal - 1;
    }
    return filled_ +
           static_cast<std::uint64_t>(std::distance(beyond_.begin(), beyond_.lower_bound(ordinal)));
}

Tally::Session& Tally::session_of(Shard& shard, std::string_view session_id) {
    const auto known = shard.sessions.find(session_id);
    return known != shard.sessions.end()
               ? known->second
               : shard.sessions.emplace(session_id, Session{}).first->second;
}

std::uint64_t Tally::next_ordinal(std::string_view session_id) {
    Shard& shard = shard_of(session_id);
    const std::lock_guard lock{shard.mutex};
    return ++session_of(shard, session_id).sent;
}

void Tally::started(std::string_view session_id, std::uint64_t ordinal) {
    Shard& shard = shard_of(session_id);
    const std::lock_guard lock{shard.mutex};
    Session& session = session_of(shard, session_id);
    const bool was_sent = ordinal >= 1 && ordinal <= session.sent;
    if (!was_sent || !session.started.insert(ordinal)) {
        ++session.duplicated;
        return;
    }
    const std::uint64_t unfinished_before = ordinal - 1 - session.finished.count_below(ordinal);
    if (unfinished_before >= calls_per_session_) {
        ++session.out_of_order;
    }
}

bool Tally::finished(std::string_view session_id, std::uint64_t ordinal, std::string_view outcome) {
    Shard& shard = shard_of(session_id);
    const std::lock_guard lock{shard.mutex};
    Session& session = session_of(shard, session_id);
    if (ordinal < 1 || ordinal > session.sent) {
        return false;
    }
    session.outcome = outcome;
    return session.finished.insert(ordinal);
}

Tally::Figures Tally::figures() const {
    Figures total;
    for (const Shard& shard : shards_) {
        const std::lock_guard lock{shard.mutex};
        for (const auto& [id, session] : shard.sessions) {
            total.sent += session.sent;
            total.sessions += session.sent > 0 ? 1 : 0;
            total.out_of_order += session.out_of_order;
            total.lost += session.sent - session.finished.size();
            total.duplicated += session.duplicated;
        }
    }
    return total;
}

std::vector<Tally::SessionOutcome> Tally::outcomes() const {
    std::vector<SessionOutcome> all;
    for (const Shard& shard : shards_) {
        const std::lock_guard lock{shard.mutex};
        for (const auto& [id, session] : shard.sessions) {
            all.push_back(
                {.session_id = id, .messages = session.finished.size(), .last = session.outcome});
        }
    }
    std::sort(all.begin(), all.end(), [](const SessionOutcome& a, const SessionOutcome& b) {
        return a.messages != b.messages ? a.messages > b.messages : a.session_id < b.session_id;
    });
    return all;
}

} // namespace replay
