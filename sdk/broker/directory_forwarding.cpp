// SPDX-License-Identifier: MIT
// Where entities forward messages.
#include <algorithm>
#include <mutex>
#include <set>

#include "broker/directory.hpp"
#include "broker/queue_pair.hpp"

namespace sessionq::broker {

bool Directory::closes_cycle(const EntitySpec& spec) const {
    const std::set<std::string> origin{core::lower_case(spec.name), core::lower_case(spec.topic)};
    std::set<std::string> seen;
    std::vector<std::string> open;
    const auto follow = [&open](const QueueOptions& options) {
        for (const std::string& to : {options.forward_to, options.forward_dead_letters_to}) {
            if (!to.empty()) {
                open.push_back(core::lower_case(to));
            }
        }
    };
    for (follow(spec.options); !open.empty();) {
        const std::string name = std::move(open.back());
        open.pop_back();
        if (origin.contains(name)) {
            return true;
        }
        const auto found = entries_.find(name);
        if (found == entries_.end() || !seen.insert(name).second) {
            continue;
        }
        follow(found->second.entity->options());
        for (const QueuePairPtr& subscription : found->second.subscriptions) {
            follow(subscription->options());
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
