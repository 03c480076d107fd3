// SPDX-License-Identifier: MIT
#include "broker/session_table.hpp"

#include <algorithm>
#include <utility>

namespace sessionq::broker {

Session* SessionTable::find(std::string_view id) noexcept {
    const auto at = by_id_.find(id);
    return at == by_id_.end() ? nullptr : &at->second;
}

Session& SessionTable::obtain(std::string_view id) {
    if (Session* session = find(id)) {
        return *session;
    }
    const auto at = by_id_.try_emplace(std::string{id}).first;
    Session& session = at->second;
    session.id = &at->first;
    order_.append(session);
    return session;
}

void SessionTable::set_state(Session& session, std::unique_ptr<std::string> state, WallTime now) {
    if (session.state) {
        by_state_.remove(session);
    }
    session.state = std::move(state);
    last_set_ = session.state_set_at = std::max(last_set_, now); // the order is that of time
    if (session.state) {
        by_state_.append(session);
        by_state_.show(session, true);
    }
    update_lists(session);
}

void SessionTable::refresh(Session& session, TimePoint now) {
    if (session.holder || session.available.empty()) {
        ready_count_ -= session.is_linked() ? 1 : 0;
        ready_.remove(session);
        if (!session.holder && session.messages.empty() && !session.state) {
            order_.remove(session);
            by_id_.erase(by_id_.find(*session.id));
        }
    } else if (!session.is_linked()) {
        ready_.push_back(session);
        ++ready_count_;
        session.ready_since = now;
    }
}

} // namespace sessionq::broker
