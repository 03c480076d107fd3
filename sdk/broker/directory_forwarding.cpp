// SPDX-License-Identifier: MIT
// Where entities forward messages.
#include <algorithm>
#include <mutex>
#include <set>

#include "broker/directory.hpp"
#include "broker/queue_pair.hpp"

namespace sessionq::broker {

const char* Directory::member_that_closes_cycle(const EntitySpec& spec) const {
    if (closes_cycle(spec, spec.options.forward_to)) {
        return "forward_to";
    }
    return closes_cycle(spec, spec.options.forward_dead_letters_to) ? "forward_dead_letters_to"
                                                                    : nullptr;
}

bool Directory::closes_cycle(const EntitySpec& spec, const std::string& first) const {
    const std::set<std::string> origin{core::lower_case(spec.name), core::lower_case(spec.topic)};
    std::set<std::string> seen;
    std::vector<std::string> open;
    const auto follow = [&open](const std::string& to) {
        if (!to.empty()) {
            open.push_back(core::lower_case(to));
        }
    };
    const auto follow_all = [&follow](const QueueOptions& options) {
        follow(options.forward_to);
        follow(options.forward_dead_letters_to);
    };
    for (follow(first); !open.empty();) {
        const std::string name = std::move(open.back());
        open.pop_back();
        if (origin.contains(name)) {
            return true;
        }
        const auto found = entries_.find(name);
        if (found == entries_.end() || !seen.insert(name).second) {
            continue;
        }
        follow_all(found->second.entity->options());
        for (const QueuePairPtr& subscription : found->second.subscriptions) {
            follow_all(subscription->options());
        }
    }
    return false;
}

std::vector<QueuePairPtr> Directory::subscriptions_of(const QueuePair& topic) const {
    const std::shared_lock lock{mutex_};
    const auto found = entries_.find(topic.name());
    return found == entries_.end() ? std::vector<QueuePairPtr>{} : found->second.subscriptions;
}

} // namespace sessionq::broker
