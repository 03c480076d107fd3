#include "processor/running_sessions.hpp"

namespace sessionq::processor {

void RunningSessions::lost(Key key) {
    const std::lock_guard lock{mutex_};
    ++entries_[std::move(key)].holders;
    any_.store(true, std::memory_order_release);
}

void RunningSessions::ended(const Key& key) {
    std::vector<Waiting> waiting;
    {
        const std::lock_guard lock{mutex_};
        const auto at = entries_.find(key);
        if (at == entries_.end() || --at->second.holders != 0) {
            return;
        }
        waiting = std::move(at->second.waiting);
        entries_.erase(at);
        any_.store(!entries_.empty(), std::memory_order_release);
    }
    for (Waiting& each : waiting) {
        each.loop->post(std::move(each.task));
    }
}

bool RunningSessions::wait_for(const Key& key, core::EventLoop& loop, core::Task task) {
    if (!any_.load(std::memory_order_acquire)) {
        return false;
    }
    const std::lock_guard lock{mutex_};
    const auto at = entries_.find(key);
    if (at == entries_.end()) {
        return false;
    }
    at->second.waiting.push_back({.loop = &loop, .task = std::move(task)});
    return true;
}

} // namespace sessionq::processor
