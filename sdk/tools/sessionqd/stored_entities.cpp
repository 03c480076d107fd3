// SPDX-License-Identifier: MIT
#include "tools/sessionqd/stored_entities.hpp"

#include <algorithm>
#include <vector>

#include <sessionq/error.hpp>
#include <sessionq/local_broker.hpp>

#include "core/ascii_case.hpp"
#include "core/peer_words.hpp"

namespace sessionq::sessionqd {
namespace {

struct StoredEntity {
    std::string name{};
    const char* kind{""};
    std::string topic{};        ///< of a subscription
    std::string subscription{}; ///< its name in the topic
};

std::vector<StoredEntity> entities_of(const LocalBroker& broker) {
    std::vector<StoredEntity> found;
    for (const std::string& queue : broker.queue_names()) {
        found.push_back({.name = queue, .kind = "queue"});
    }
    for (const std::string& topic : broker.topic_names()) {
        found.push_back({.name = topic, .kind = "topic"});
        for (const std::string& name : broker.subscription_names(topic)) {
            found.push_back({.name = topic + "/Subscriptions/" + name,
                             .kind = "subscription",
                             .topic = topic,
                             .subscription = name});
        }
    }
    std::ranges::sort(found, {}, &StoredEntity::name);
    return found;
}

LocalBroker open_store(const Options& options) {
    return LocalBroker{{.data_directory = options.data_directory, .on_damage = options.on_damage}};
}

std::string line_of(const LocalBroker& broker, const StoredEntity& entity) {
    const QueueCounts counts = broker.counts(entity.name);
    const std::size_t messages = counts.active + counts.deferred + counts.scheduled;
    return core::peer_words(entity.name) + ": " + entity.kind + ", " + std::to_string(messages) +
           " messages, " + std::to_string(counts.dead_lettered) + " dead letters\n";
}

void remove(LocalBroker& broker, const StoredEntity& entity) {
    if (!entity.topic.empty()) {
        broker.delete_subscription(entity.topic, entity.subscription);
    } else if (entity.kind == std::string_view{"topic"}) {
        broker.delete_topic(entity.name);
    } else {
        broker.delete_queue(entity.name);
    }
}

} // namespace

std::string list_entities(const Options& options) {
    const LocalBroker broker = open_store(options);
    std::string text;
    for (const StoredEntity& entity : entities_of(broker)) {
        text += line_of(broker, entity);
    }
    return text;
}

std::string delete_entities(const Options& options) {
    LocalBroker broker = open_store(options);
    std::vector<StoredEntity> doomed;
    const auto stored = entities_of(broker);
    for (const std::string& name : options.deleted_entities) {
        const auto found = std::ranges::find_if(stored, [&name](const StoredEntity& entity) {
            return core::equal_ignoring_case(entity.name, name);
        });
        if (found == stored.end()) {
            throw Error{Errc::entity_not_found, "--delete-entity: '" + name + "' is not in '" +
                                                    options.data_directory.string() + "'"};
        }
        doomed.push_back(*found);
    }
    std::string text;
    for (const StoredEntity& entity : doomed) {
        text += "deleted " + line_of(broker, entity);
        remove(broker, entity);
    }
    return text;
}

} // namespace sessionq::sessionqd
