// SPDX-License-Identifier: MIT
#include "broker/browser_line.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sessionq::broker {

OperationId BrowserLine::wait(BrowseSpec spec, std::shared_ptr<BrowserTarget> target) {
    if (entity_.is_shut_down) {
        entity_.context.effects().deleted(std::move(target), entity_.deleted());
        return 0;
    }
    Wait wait{std::move(spec), std::move(target)};
    if (tell(wait)) {
        return 0;
    }
    waiting_.emplace(++last_id_, std::move(wait));
    return last_id_;
}

void BrowserLine::serve() {
    const std::int64_t last = entity_.store.last_sequence();
    if (std::exchange(looked_at_, last) == last) {
        return;
    }
    for (auto entry = waiting_.begin(); entry != waiting_.end();) {
        entry = tell(entry->second) ? waiting_.erase(entry) : std::next(entry);
    }
}

bool BrowserLine::tell(Wait& wait) {
    Peeked peeked;
    do { // only a browser that has not looked before finds many
        peeked = entity_.peek(wait.spec.from, 1, wait.spec.session_id);
        // A message that appears from now on has a new number.
        wait.spec.from = std::max(wait.spec.from, peeked.searched_to);
    } while (!peeked.is_complete);
    if (peeked.messages.empty()) {
        return false;
    }
    entity_.context.effects().browsable(std::move(wait.target));
    return true;
}

void BrowserLine::shut_down() {
    for (auto& [id, wait] : waiting_) {
        entity_.context.effects().deleted(std::move(wait.target), entity_.deleted());
    }
    waiting_.clear();
}

} // namespace sessionq::broker
