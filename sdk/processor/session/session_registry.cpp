// SPDX-License-Identifier: MIT
#include "processor/session/session_registry.hpp"

#include <utility>

namespace sessionq::detail::processor {

bool SessionRegistry::hold(const Key& key, Holder holder, core::EventLoop& loop, core::Task begin) {
    const std::lock_guard lock{mutex_};
    if (const auto held = sessions_.find(key); held != sessions_.end()) {
        held->second.waiting.push_back(
            {.holder = holder, .loop = &loop, .begin = std::move(begin)});
        return false;
    }
    if (spare_.empty()) {
        sessions_.try_emplace(key, Held{.holder = holder});
    } else {
        Sessions::node_type node = std::move(spare_.back());
        spare_.pop_back();
        node.key() = key;
        node.mapped().holder = holder;
        sessions_.insert(std::move(node));
    }
    return true;
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
        constexpr std::size_t most_spare = 1024;
        Sessions::node_type node = sessions_.extract(at);
        if (spare_.size() < most_spare) {
            spare_.push_back(std::move(node));
        }
    } else {
        Waiter next = std::move(waiting.front());
        waiting.erase(waiting.begin());
        held_by = next.holder;
        next.loop->post(std::move(next.begin));
    }
}

} // namespace sessionq::detail::processor
