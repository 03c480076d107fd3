// SPDX-License-Identifier: MIT
#include "processor/session/session_registry.hpp"

#include <algorithm>
#include <utility>

namespace sessionq::processor {

bool SessionRegistry::hold(const Key& key, Holder holder, core::EventLoop& loop, core::Task begin) {
    const std::lock_guard lock{mutex_};
    std::vector<Entry>& entries = sessions_[key];
    const bool alone = entries.empty();
    entries.push_back({.holder = holder, .loop = &loop, .begin = std::move(begin)});
    return alone;
}

void SessionRegistry::ended(const Key& key, Holder holder) {
    const std::lock_guard lock{mutex_};
    const auto at = sessions_.find(key);
    if (at == sessions_.end()) {
        return;
    }
    std::vector<Entry>& entries = at->second;
    const bool first = entries.front().holder == holder;
    std::erase_if(entries, [holder](const Entry& entry) { return entry.holder == holder; });
    if (entries.empty()) {
        sessions_.erase(at);
    } else if (first) {
        entries.front().loop->post(std::move(entries.front().begin));
    }
}

} // namespace sessionq::processor
