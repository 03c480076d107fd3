// SPDX-License-Identifier: MIT
#include "processor/session/session_registry.hpp"

#include <utility>

namespace sessionq::detail::processor {

bool SessionRegistry::hold(const Key& key, Holder holder, core::EventLoop& loop, core::Task begin) {
    const std::lock_guard lock{mutex_};
    const auto [at, alone] = sessions_.try_emplace(key, Held{.holder = holder});
    if (!alone) {
        at->second.waiting.push_back({.holder = holder, .loop = &loop, .begin = std::move(begin)});
    }
    return alone;
}

void SessionRegistry::ended(const Key& key, Holder holder) {
    const std::lock_guard lock{mutex_};
    const auto at = sessions_.find(key);
    if (at == sessions_.end()) {
        return;
    }
    auto& [held_by, waiting] = at->second;
    if (held_by != holder) {
        std::erase_if(waiting, [holder](const Waiter& each) { return each.holder == holder; });
    } else if (waiting.empty()) {
        sessions_.erase(at);
    } else {
        Waiter next = std::move(waiting.front());
        waiting.erase(waiting.begin());
        held_by = next.holder;
        next.loop->post(std::move(next.begin));
    }
}

} // namespace sessionq::detail::processor
