// SPDX-License-Identifier: MIT
#include "server/configuration_change.hpp"

#include <algorithm>
#include <iterator>

#include "server/address.hpp"

namespace sessionq::server {
namespace {

template <typename Entry>
const Entry* find_named(const std::vector<Entry>& entries, const std::string& name) {
    const auto found = std::ranges::find(entries, lower_case(name),
                                         [](const Entry& entry) { return lower_case(entry.name); });
    return found == entries.end() ? nullptr : &*found;
}

/// Returns the entries that are new, and notes those of `before` that are gone.
template <typename Entry>
std::vector<Entry> new_ones(const std::vector<Entry>& before, const std::vector<Entry>& now,
                            const std::string& parent, std::vector<std::string>& kept) {
    std::vector<Entry> added;
    std::ranges::copy_if(now, std::back_inserter(added), [&](const Entry& entry) {
        return find_named(before, entry.name) == nullptr;
    });
    for (const Entry& entry : before) {
        if (find_named(now, entry.name) == nullptr) {
            kept.push_back(parent + entry.name);
        }
    }
    return added;
}

/// Notes the entries that are in both, with other contents.
template <typename Entry>
void note_changed(const std::vector<Entry>& before, const std::vector<Entry>& now,
                  const std::string& parent, std::vector<std::string>& kept) {
    for (const Entry& entry : before) {
        const Entry* const found = find_named(now, entry.name);
        if (found == nullptr) {
            continue;
        }
        Entry renamed = *found; // in another case
        renamed.name = entry.name;
        if (renamed != entry) {
            kept.push_back(parent + entry.name);
        }
    }
}

} // namespace

ConfigurationChange compare(const Configuration& before, const Configuration& now) {
    ConfigurationChange change;
    change.added.queues = new_ones(before.queues, now.queues, {}, change.kept);
    note_changed(before.queues, now.queues, {}, change.kept);
    change.added.topics = new_ones(before.topics, now.topics, {}, change.kept);
    for (const TopicEntry& topic : before.topics) {
        const TopicEntry* const found = find_named(now.topics, topic.name);
        if (found == nullptr) {
            continue;
        }
        if (found->options != topic.options) {
            change.kept.push_back(topic.name);
        }
        const std::string parent = topic.name + "/Subscriptions/";
        change.grown.push_back({.name = topic.name,
                                .subscriptions = new_ones(topic.subscriptions, found->subscriptions,
                                                          parent, change.kept)});
        note_changed(topic.subscriptions, found->subscriptions, parent, change.kept);
    }
    return change;
}

core::Result<core::Done> apply(const ConfigurationChange& change, broker::Broker& broker,
                               broker::Instant at) {
    if (auto created = create_entities(broker, change.added, at); !created) {
        return created;
    }
    for (const TopicEntry& topic : change.grown) {
        if (auto created = create_subscriptions(broker, topic, at); !created) {
            return created;
        }
    }
    return core::Done{};
}

} // namespace sessionq::server
