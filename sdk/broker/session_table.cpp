#include "broker/session_table.hpp"

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
    all_.push_back(session);
    return session;
}

void SessionTable::refresh(Session& session) {
    if (session.holder || session.available.empty()) {
        ready_.remove(session);
        if (!session.holder && session.messages.empty() && !session.state) {
            by_id_.erase(by_id_.find(*session.id));
        }
    } else if (!session.core::ListHook<ReadyTag>::is_linked()) {
        ready_.push_back(session);
    }
}

std::vector<std::string> SessionTable::list(std::size_t skip, std::size_t top) const {
    std::vector<std::string> ids;
    for (const Session* session = all_.front(); session != nullptr && ids.size() < top;
         session = all_.next(*session)) {
        if (session->messages.empty() && !session->state) {
            continue; // only locked
        }
        if (skip > 0) {
            --skip;
            continue;
        }
        ids.push_back(*session->id);
    }
    return ids;
}

} // namespace sessionq::broker
