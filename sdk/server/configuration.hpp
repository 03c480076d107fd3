#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sessionq/rule.hpp>

#include "broker/broker.hpp"
#include "broker/queue_options.hpp"
#include "core/result.hpp"

namespace sessionq::server {

struct QueueEntry {
    std::string name{};
    broker::QueueOptions options{};
};

struct SubscriptionEntry {
    std::string name{};
    broker::QueueOptions options{};
    std::vector<Rule> rules{};
};

struct TopicEntry {
    std::string name{};
    broker::TopicOptions options{};
    std::vector<SubscriptionEntry> subscriptions{};
};

/// The entities a broker is to have.
struct Configuration {
    std::vector<QueueEntry> queues{};
    std::vector<TopicEntry> topics{};
};

/// Reads the JSON format of Microsoft's Service Bus emulator, its Config.json, comments allowed:
/// `UserConfig` with `Namespaces`, one of them, with `Queues` and `Topics`, and `Logging`, which
/// has no effect here. What the text leaves out has the defaults of the emulator's schema: an hour
/// to live, locks of a minute, three deliveries, duplicates detected for 20 seconds where they are
/// at all. What the emulator limits beyond the service (an hour to live, ten deliveries, sizes,
/// numbers of entities) is not limited.
///
/// `others` are there besides: messages may be passed on to them, and nothing else may have their
/// names.
///
/// Fails with invalid_option at the first thing that is wrong (a member nobody knows, of another
/// type, missing, out of range; a name that is there twice; a place to pass messages on to that is
/// not there, or leads back), named by its path:
/// "UserConfig.Namespaces[0].Queues[2].Properties.LockDuration: ...".
[[nodiscard]] core::Result<Configuration> read_configuration(
    std::string_view json, std::span<const QueueEntry> others = {});

/// Makes all of it. Fails as the broker does.
core::Result<core::Done> create_entities(broker::Broker& broker, const Configuration& configuration,
                                         broker::Instant at);

} // namespace sessionq::server
