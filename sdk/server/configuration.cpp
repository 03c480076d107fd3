// SPDX-License-Identifier: MIT
#include "server/configuration.hpp"

#include <array>
#include <optional>
#include <tuple>
#include <utility>

#include "server/configured_rule.hpp"
#include "server/duration_text.hpp"
#include "server/json_node.hpp"

namespace sessionq::server {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds longest_lock = std::chrono::minutes{5};
constexpr milliseconds longest_window = std::chrono::hours{24 * 7};
// Defaults of the emulator's schema.
constexpr milliseconds default_window = std::chrono::seconds{20};
constexpr milliseconds default_time_to_live = std::chrono::hours{1};
constexpr std::uint32_t default_deliveries = 3;

constexpr milliseconds unlimited_time_to_live = std::chrono::hours{24 * 365 * 100};
constexpr std::int64_t most_deliveries = 2000;

using Names = JsonNode::Names;

// Members that are not supported.
const Names of_entities{
    "AutoDeleteOnIdle",   "EnableBatchedOperations",   "EnableExpress", "EnablePartitioning",
    "MaxSizeInMegabytes", "MaxMessageSizeInKilobytes", "Status",        "UserMetadata"};
const Names of_namespaces{"Logging", "Properties"};

/// Members and the options that they set.
constexpr std::array forwarding{
    std::tuple{"ForwardTo", "forward_to", &broker::QueueOptions::forward_to},
    std::tuple{"ForwardDeadLetteredMessagesTo", "forward_dead_letters_to",
               &broker::QueueOptions::forward_dead_letters_to}};

/// An entity and its place in the document, for checks that need all entities.
struct Located {
    JsonNode node;
    std::vector<std::pair<const char*, std::string>> destinations{}; // member name and entity name
};

broker::QueueOptions default_options() {
    return {.max_delivery_count = default_deliveries, .default_time_to_live = default_time_to_live};
}

milliseconds read_duration(const JsonNode& node, milliseconds longest, const char* range) {
    const auto length = parse_duration(node.text());
    if (!length) {
        node.fail("expected an ISO 8601 duration such as \"PT1M\"");
    }
    if (length->count() <= 0 || *length > longest) {
        node.fail(std::string{"must be "} + range);
    }
    return *length;
}

std::optional<milliseconds> read_time_to_live(const JsonNode& properties) {
    const auto node = properties.find("DefaultMessageTimeToLive");
    if (!node) {
        return default_time_to_live;
    }
    const milliseconds length = read_duration(*node, milliseconds::max(), "above zero");
    // some files write the longest duration there is
    return length > unlimited_time_to_live ? std::nullopt : std::optional{length};
}

std::optional<Duration> read_window(const JsonNode& properties) {
    milliseconds window = default_window;
    if (const auto node = properties.find("DuplicateDetectionHistoryTimeWindow")) {
        window = read_duration(*node, longest_window, "above zero and at most 7 days");
    }
    const auto wanted = properties.find("RequiresDuplicateDetection");
    return wanted && wanted->truth() ? std::optional<Duration>{window} : std::nullopt;
}

/// Reads the order of messages, which is ours: the emulator delivers by arrival.
void read_order(const JsonNode& properties, broker::QueueOptions& options) {
    if (const auto node = properties.find("MessageOrder")) {
        const std::string order = node->text();
        if (order == "Priority") {
            options.order = MessageOrder::priority;
        } else if (order == "Property") {
            options.order = MessageOrder::property;
        } else if (order != "Arrival") {
            node->fail("expected \"Arrival\", \"Priority\" or \"Property\"");
        }
        if (options.requires_session && options.order != MessageOrder::arrival) {
            node->fail("an entity that requires sessions delivers by arrival");
        }
    }
    if (const auto node = properties.find("MessageOrderProperty")) {
        options.order_property = node->text();
    }
}

/// Reads the properties that queues and subscriptions share.
void read_common(const JsonNode& properties, broker::QueueOptions& options, Located& located) {
    if (const auto node = properties.find("LockDuration")) {
        options.lock_duration =
            read_duration(*node, longest_lock, "above zero and at most 5 minutes");
    }
    if (const auto node = properties.find("MaxDeliveryCount")) {
        options.max_delivery_count = static_cast<std::uint32_t>(node->whole(1, most_deliveries));
    }
    if (const auto node = properties.find("RequiresSession")) {
        options.requires_session = node->truth();
    }
    if (const auto node = properties.find("DeadLetteringOnMessageExpiration")) {
        options.dead_letter_on_expiration = node->truth();
    }
    options.default_time_to_live = read_time_to_live(properties);
    read_order(properties, options);
    for (const auto& [member, name, option] : forwarding) {
        if (const auto node = properties.find(member)) {
            options.*option = node->text();
            if (!node->text().empty()) {
                located.destinations.emplace_back(member, node->text());
            }
        }
    }
    if (options.requires_session && !options.forward_to.empty()) {
        properties.at("ForwardTo")
            .fail("an entity that requires sessions cannot forward its messages");
    }
}

/// Reads a document. It creates each entity in a scratch broker, so that names and forwarding are
/// checked exactly as the real broker checks them.
class Reader {
public:
    Reader(std::span<const QueueEntry> others, UnsupportedMembers unsupported)
        : unsupported_{unsupported} {
        for (const QueueEntry& queue : others) {
            broker_.create_queue(queue.name, queue.options, {}).take_or_throw();
        }
    }

    Configuration read(const JsonNode& document) {
        document.expect_members({"UserConfig", "$schema"});
        const JsonNode user = document.at("UserConfig");
        user.expect_members({"Namespaces", "Logging"});
        if (const auto logging = user.find("Logging")) {
            read_logging(*logging);
        }
        const JsonNode namespaces = user.at("Namespaces");
        if (namespaces.items().size() != 1) {
            namespaces.fail("expected exactly one namespace");
        }
        read_namespace(namespaces.items().front());
        for (const Located& located : located_) {
            check_destinations(located);
        }
        return std::move(configuration_);
    }

private:
    void expect_members(const JsonNode& node, Names known, Names unsupported) {
        if (unsupported_ == UnsupportedMembers::refuse) {
            node.expect_members(known);
            return;
        }
        for (std::string& path : node.expect_members(known, unsupported)) {
            configuration_.ignored.push_back(std::move(path));
        }
    }

    void read_logging(const JsonNode& node) {
        if (unsupported_ == UnsupportedMembers::refuse) {
            node.expect_members({"Type"});
            static_cast<void>(node.at("Type").text());
            return;
        }
        for (const auto& [name, member] : node.members()) {
            if (name != "Type") {
                configuration_.ignored.push_back(member.path());
            }
        }
    }

    void read_namespace(const JsonNode& node) {
        expect_members(node, {"Name", "Queues", "Topics"}, of_namespaces);
        static_cast<void>(read_name(node));
        if (const auto queues = node.find("Queues")) {
            for (const JsonNode& queue : queues->items()) {
                read_queue(queue);
            }
        }
        if (const auto topics = node.find("Topics")) {
            for (const JsonNode& topic : topics->items()) {
                read_topic(topic);
            }
        }
    }

    void read_queue(const JsonNode& node) {
        node.expect_members({"Name", "Properties"});
        QueueEntry queue{.name = read_name(node), .options = default_options()};
        Located located{.node = node};
        if (const auto properties = node.find("Properties")) {
            located.node = *properties;
            expect_members(*properties,
                           {"DeadLetteringOnMessageExpiration", "DefaultMessageTimeToLive",
                            "DuplicateDetectionHistoryTimeWindow", "ForwardDeadLetteredMessagesTo",
                            "ForwardTo", "LockDuration", "MaxDeliveryCount", "MessageOrder",
                            "MessageOrderProperty", "RequiresDuplicateDetection",
                            "RequiresSession"},
                           of_entities);
            read_common(*properties, queue.options, located);
            queue.options.duplicate_detection_window = read_window(*properties);
        }
        judge(node, located, broker_.create_queue(queue.name, queue.options, {}));
        located_.push_back(std::move(located));
        configuration_.queues.push_back(std::move(queue));
    }

    void read_topic(const JsonNode& node) {
        node.expect_members({"Name", "Properties", "Subscriptions"});
        TopicEntry topic{.name = read_name(node),
                         .options = {.default_time_to_live = default_time_to_live}};
        if (const auto properties = node.find("Properties")) {
            expect_members(*properties,
                           {"DefaultMessageTimeToLive", "DuplicateDetectionHistoryTimeWindow",
                            "RequiresDuplicateDetection"},
                           of_entities);
            topic.options.default_time_to_live = read_time_to_live(*properties);
            topic.options.duplicate_detection_window = read_window(*properties);
        }
        judge(node, {.node = node}, broker_.create_topic(topic.name, topic.options, {}));
        if (const auto subscriptions = node.find("Subscriptions")) {
            for (const JsonNode& subscription : subscriptions->items()) {
                topic.subscriptions.push_back(read_subscription(topic.name, subscription));
            }
        }
        configuration_.topics.push_back(std::move(topic));
    }

    SubscriptionEntry read_subscription(const std::string& topic, const JsonNode& node) {
        node.expect_members({"Name", "Properties", "Rules"});
        SubscriptionEntry subscription{.name = read_name(node), .options = default_options()};
        Located located{.node = node};
        if (const auto properties = node.find("Properties")) {
            located.node = *properties;
            expect_members(*properties,
                           {"DeadLetteringOnMessageExpiration", "DefaultMessageTimeToLive",
                            "ForwardDeadLetteredMessagesTo", "ForwardTo", "LockDuration",
                            "MaxDeliveryCount", "MessageOrder", "MessageOrderProperty",
                            "RequiresSession"},
                           of_entities);
            read_common(*properties, subscription.options, located);
        }
        if (const auto rules = node.find("Rules")) {
            for (const JsonNode& rule : rules->items()) {
                subscription.rules.push_back(read_configured_rule(rule));
            }
        }
        judge(node, located,
              broker_.create_subscription(topic, subscription.name, subscription.options,
                                          subscription.rules, {}));
        located_.push_back(std::move(located));
        return subscription;
    }

    /// The broker's failures begin with the option that is wrong.
    static void judge(const JsonNode& node, const Located& located,
                      const core::Result<core::Done>& made) {
        if (made) {
            return;
        }
        const std::string& why = made.failure().detail;
        for (const auto& [member, name, option] : forwarding) {
            const std::string_view wrong{name};
            if (why.starts_with(wrong) && why.find_first_of(": ") == wrong.size()) {
                located.node.at(member).fail(why.substr(why.find(' ') + 1));
            }
        }
        node.fail(why);
    }

    void check_destinations(const Located& located) {
        for (const auto& [member, name] : located.destinations) {
            const auto found = broker_.find(name);
            if (!found || found.value()->find_send_fault()) {
                located.node.at(member).fail("unknown queue or topic '" + name + "'");
            }
        }
    }

    const UnsupportedMembers unsupported_;
    Configuration configuration_{};
    broker::Broker broker_{};
    std::vector<Located> located_{};
};

} // namespace

core::Result<Configuration> read_configuration(std::string_view json,
                                               std::span<const QueueEntry> others,
                                               UnsupportedMembers unsupported) {
    try {
        const auto document = JsonNode::parse(json);
        return Reader{others, unsupported}.read(JsonNode{document, {}});
    } catch (const Error& error) {
        return error.failure();
    }
}

void bound_sizes(std::vector<QueueEntry>& queues, Configuration& configuration, std::uint64_t bytes,
                 std::size_t message_bytes) {
    const auto bound = [bytes, message_bytes](auto& entries) {
        for (auto& entry : entries) {
            entry.options.max_message_bytes = message_bytes;
            std::uint64_t& size = entry.options.max_size_bytes;
            size = size != 0 ? size : bytes;
        }
    };
    bound(queues);
    bound(configuration.queues);
    bound(configuration.topics);
}

core::Result<core::Done> create_subscriptions(broker::Broker& broker, const TopicEntry& topic,
                                              broker::Instant at) {
    for (const SubscriptionEntry& subscription : topic.subscriptions) {
        if (auto made = broker.create_subscription(topic.name, subscription.name,
                                                   subscription.options, subscription.rules, at);
            !made) {
            return made;
        }
    }
    return core::Done{};
}

core::Result<core::Done> create_entities(broker::Broker& broker, const Configuration& configuration,
                                         broker::Instant at) {
    for (const QueueEntry& queue : configuration.queues) {
        if (auto made = broker.create_queue(queue.name, queue.options, at); !made) {
            return made;
        }
    }
    for (const TopicEntry& topic : configuration.topics) {
        if (auto made = broker.create_topic(topic.name, topic.options, at); !made) {
            return made;
        }
        if (auto made = create_subscriptions(broker, topic, at); !made) {
            return made;
        }
    }
    return core::Done{};
}

} // namespace sessionq::server
