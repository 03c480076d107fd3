// How messages are forwarded from one entity to another.
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

void Directory::deliver(const QueuePair& source, std::span<Transit> messages, Instant at) {
    if (!has_begun()) { // the destinations may not exist yet
        for (Transit& transit : messages) {
            transit.is_held = true;
        }
        return;
    }
    if (source.kind() != EntityKind::topic) {
        forward(messages, at);
        return;
    }
    std::vector<filter::Candidate> candidates;
    candidates.reserve(messages.size());
    for (const Transit& transit : messages) {
        candidates.emplace_back(transit.message.content);
    }
    for (const QueuePairPtr& subscription : subscriptions_of(source)) {
        std::vector<Arrival> arrivals;
        for (std::size_t i = 0; i < messages.size(); ++i) {
            if (std::ranges::find(messages[i].forwarded_to, subscription->ids().queue) !=
                messages[i].forwarded_to.end()) {
                continue; // it received the message before the restart
            }
            for (MessageContentPtr& copy : subscription->rules()->select(candidates[i])) {
                arrivals.push_back(messages[i].message);
                arrivals.back().content = std::move(copy);
            }
        }
        if (!arrivals.empty()) {
            subscription->take(arrivals, at); // it dead-letters what it rejects
        }
    }
}

void Directory::forward(std::span<Transit> messages, Instant at) {
    for (Transit& transit : messages) {
        if (transit.message.hops >= max_hops) {
            transit.failed_with = {.reason = "MaxTransferHopCountExceeded",
                                   .description = "forwarded " + std::to_string(max_hops) +
                                                  " times, which is the limit"};
            continue;
        }
        const std::string& name = transit.from->destination();
        const QueuePairPtr destination = find(name);
        Arrival arrival = transit.message;
        ++arrival.hops;
        const auto failure =
            destination ? destination->take({&arrival, 1}, at)
                        : std::optional{Failure{.code = Errc::entity_not_found,
                                                .detail = "there is no entity '" + name + "'"}};
        if (failure) {
            transit.failed_with = describe_transit_failure(*failure);
        }
    }
}

} // namespace sessionq::broker
