// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
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

    friend bool operator==(const QueueEntry&, const QueueEntry&) = default;
};

struct SubscriptionEntry {
    std::string name{};
    broker::QueueOptions options{};
    std::vector<Rule> rules{};

    friend bool operator==(const SubscriptionEntry&, const SubscriptionEntry&) = default;
};

struct TopicEntry {
    std::string name{};
    broker::TopicOptions options{};
    std::vector<SubscriptionEntry> subscriptions{};
};

/// The entities to create in a broker.
struct Configuration {
    std::vector<QueueEntry> queues{};
    std::vector<TopicEntry> topics{};
    std::vector<std::string> ignored{}; ///< paths of members that are known and not supported
};

/// How to treat members that Azure Service Bus or its emulator knows, and this broker does not
/// support: `AutoDeleteOnIdle`, `EnableBatchedOperations`, `EnableExpress`, `EnablePartitioning`,
/// `MaxMessageSizeInKilobytes`, `MaxSizeInMegabytes`, `Status` and `UserMetadata` of entities,
/// `Properties` and `Logging` of a namespace, and all but `Type` in `Logging`.
enum class UnsupportedMembers : std::uint8_t { ignore, refuse };

/// Reads the JSON format of Microsoft's Service Bus emulator (its Config.json). Comments are
/// allowed.
///
/// `UserConfig` holds one entry in `Namespaces` with `Queues` and `Topics`. `Logging` is ignored.
/// Absent members have the defaults of the emulator's schema: one hour to live, locks of one
/// minute, three deliveries, and a duplicate detection window of 20 seconds where detection is on.
/// The emulator's own limits (time to live, deliveries, sizes, numbers of entities) do not apply.
///
/// `others` are queues that exist besides. The document may forward to them but not reuse their
/// names.
///
/// Fails with invalid_option at the first fault: an unknown, missing, mistyped or out-of-range
/// member, a name used twice, or forwarding to an unknown entity or in a circle. The text begins
/// with the path: "UserConfig.Namespaces[0].Queues[2].Properties.LockDuration: ...".
[[nodiscard]] core::Result<Configuration> read_configuration(
    std::string_view json, std::span<const QueueEntry> others = {},
    UnsupportedMembers unsupported = UnsupportedMembers::ignore);

/// Gives all queues and topics this largest message, and those that have no bound of their size
/// this one. A subscription is bounded by the time that its topic's messages may live: if it were
/// full it would dead-letter them.
void bound_sizes(std::vector<QueueEntry>& queues, Configuration& configuration, std::uint64_t bytes,
                 std::size_t message_bytes);

/// Creates the subscriptions of a topic that is there. Fails like the broker's own functions.
core::Result<core::Done> create_subscriptions(broker::Broker& broker, const TopicEntry& topic,
                                              broker::Instant at);

/// Creates all entities. Fails like the broker's own functions.
core::Result<core::Done> create_entities(broker::Broker& broker, const Configuration& configuration,
                                         broker::Instant at);

} // namespace sessionq::server
