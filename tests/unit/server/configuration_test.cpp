// SPDX-License-Identifier: MIT
#include "server/configuration.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "emulator_config.hpp"

using namespace sessionq;
using namespace sessionq::server;
using namespace std::chrono_literals;

namespace {

Configuration read(const std::string& json) {
    auto configuration = read_configuration(json);
    INFO((configuration ? std::string{} : configuration.failure().detail));
    REQUIRE(configuration.ok());
    return std::move(configuration).value();
}

std::string complaint(const std::string& json) {
    const auto configuration = read_configuration(json);
    if (configuration) {
        return {};
    }
    CHECK(configuration.failure().code == Errc::invalid_option);
    return configuration.failure().detail;
}

std::string with_namespace(const std::string& content) {
    return R"({"UserConfig": {"Namespaces": [{"Name": "n", )" + content + "}]}}";
}
std::string with_queue(const std::string& properties) {
    return with_namespace(R"("Queues": [{"Name": "q"}, {"Name": "r", "Properties": {)" +
                          properties + "}}]");
}
std::string with_subscription(const std::string& content) {
    return with_namespace(R"("Topics": [{"Name": "t", "Subscriptions": [{"Name": "s", )" + content +
                          "}]}]");
}
std::string with_rule(const std::string& properties) {
    return with_subscription(R"("Rules": [{"Name": "a"}, {"Name": "b", "Properties": {)" +
                             properties + "}}]");
}

const broker::QueueOptions emulator_defaults{
    .lock_duration = 1min, .max_delivery_count = 3, .default_time_to_live = 1h};

const std::string queue_path = "UserConfig.Namespaces[0].Queues[1].Properties";
const std::string rule_path = "UserConfig.Namespaces[0].Topics[0].Subscriptions[0].Rules[1]";

} // namespace

TEST_CASE("configuration: reads everything in the emulator's format") {
    const Configuration configuration = read(test::emulator_config);
    REQUIRE(configuration.queues.size() == 2);
    const QueueEntry& invoices = configuration.queues[0];
    CHECK(invoices.name == "invoices");
    CHECK(invoices.options == broker::QueueOptions{.requires_session = true,
                                                   .lock_duration = 30s,
                                                   .max_delivery_count = 3,
                                                   .default_time_to_live = 1h,
                                                   .dead_letter_on_expiration = true,
                                                   .duplicate_detection_window = 20s});
    CHECK(configuration.queues[1].options == emulator_defaults);
    REQUIRE(configuration.topics.size() == 1);
    const TopicEntry& events = configuration.topics[0];
    CHECK(events.name == "events");
    CHECK(events.options.default_time_to_live == 1h);
    CHECK_FALSE(events.options.duplicate_detection_window);
    REQUIRE(events.subscriptions.size() == 3);
    CHECK(events.subscriptions[0].options.max_delivery_count == 5);
    CHECK(events.subscriptions[0].options.forward_dead_letters_to == "archive");
    const CorrelationFilter everything{.content_type = "application/json",
                                       .correlation_id = "c",
                                       .message_id = "m",
                                       .reply_to = "r",
                                       .reply_to_session_id = "rs",
                                       .session_id = "s",
                                       .subject = "created",
                                       .to = "t",
                                       .properties = {{"live", true},
                                                      {"ratio", 0.5},
                                                      {"size", std::int64_t{3}},
                                                      {"tier", std::string{"gold"}}}};
    CHECK(events.subscriptions[0].rules ==
          std::vector<Rule>{{.name = "everything", .filter = everything}});
    CHECK(events.subscriptions[1].options.requires_session);
    CHECK(events.subscriptions[1].rules.empty());
    CHECK(events.subscriptions[2].options.forward_to == "archive");
    CHECK(events.subscriptions[2].rules ==
          std::vector<Rule>{{.name = "gold",
                             .filter = SqlFilter{"tier = 'gold' AND sys.Label LIKE 'cre%'"},
                             .action = "SET sys.To = 'vault'"}});
}

TEST_CASE("configuration: the entities it describes are created and work") {
    broker::Broker broker;
    const broker::Instant at{TimePoint{1h}, WallTime{}};
    REQUIRE(create_entities(broker, read(test::emulator_config), at).ok());
    CHECK(broker.names(broker::EntityKind::queue) ==
          std::vector<std::string>{"archive", "invoices"});
    CHECK(broker.names(broker::EntityKind::topic) == std::vector<std::string>{"events"});
    CHECK(broker.names(broker::EntityKind::subscription).size() == 3);
    Message message = Message::of("body").in_session("s");
    message.subject = "created";
    message.properties = {{"tier", std::string{"gold"}}};
    CHECK(broker.find("events").value()->send(std::vector{message}, at).ok());
    CHECK(broker.find("events/subscriptions/all").value()->counts(at).active == 1);
    const auto archived = broker.find("archive").value()->peek(0, 10, std::nullopt, at);
    REQUIRE(archived.size() == 1);
    CHECK(archived.front().content().to == "vault");
    CHECK(create_entities(broker, read(test::emulator_config), at).failure().code ==
          Errc::duplicate_entity);
}

TEST_CASE("configuration: absent members have the defaults of the emulator's schema") {
    CHECK(read(with_queue("")).queues[0].options == emulator_defaults);
    CHECK(read(with_queue("")).queues[1].options == emulator_defaults);
    CHECK(read(with_queue(R"("RequiresDuplicateDetection": true)"))
              .queues[1]
              .options.duplicate_detection_window == 20s);
    CHECK(read(with_subscription(R"("Rules": [])")).topics[0].subscriptions[0].options ==
          emulator_defaults);
    CHECK(read(with_subscription(R"("Properties": {})")).topics[0].subscriptions[0].options ==
          emulator_defaults);
    CHECK(read(with_subscription(R"("Rules": [])")).topics[0].options.default_time_to_live == 1h);
    CHECK_FALSE(read(with_queue(R"("DefaultMessageTimeToLive": "P10675199DT2H48M5.4775807S")"))
                    .queues[1]
                    .options.default_time_to_live);
    CHECK(read(R"({"UserConfig": {"Namespaces": [{"Name": "n"}]}})").queues.empty());
    CHECK(read(with_subscription(R"("Rules": [])")).topics[0].subscriptions[0].rules.empty());
}

TEST_CASE("configuration: queues and subscriptions without sessions may have an order") {
    CHECK(read(with_queue(R"("MessageOrder": "Arrival")")).queues[1].options == emulator_defaults);
    CHECK(read(with_queue(R"("MessageOrder": "Priority")")).queues[1].options.order ==
          MessageOrder::priority);
    const Configuration by_due = read(with_subscription(
        R"("Properties": {"MessageOrder": "Property", "MessageOrderProperty": "due"})"));
    CHECK(by_due.topics[0].subscriptions[0].options.order == MessageOrder::property);
    CHECK(by_due.topics[0].subscriptions[0].options.order_property == "due");
}

TEST_CASE("configuration: rejects unknown members and names their path") {
    const std::pair<std::string, std::string> unknown[] = {
        {R"({"UserConfig": {"Namespaces": [{"Name": "n"}]}, "Other": 1})", "Other: unknown member"},
        {R"({"UserConfig": {"Namespaces": [{"Name": "n"}], "Other": {}}})",
         "UserConfig.Other: unknown member"},
        {with_namespace(R"("Relays": [])"), "UserConfig.Namespaces[0].Relays: unknown member"},
        {with_namespace(R"("Queues": [{"Name": "q", "Foo": 1}])"),
         "UserConfig.Namespaces[0].Queues[0].Foo: unknown member"},
        {with_queue(R"("Foo": 1)"), queue_path + ".Foo: unknown member"},
        {with_queue(R"("lockDuration": "PT1M")"), queue_path + ".lockDuration: unknown member"},
        {with_subscription(R"("Properties": {"RequiresDuplicateDetection": true})"),
         "UserConfig.Namespaces[0].Topics[0].Subscriptions[0].Properties."
         "RequiresDuplicateDetection: unknown member"},
        {with_rule(
             R"("FilterType": "Sql", "SqlFilter": {"SqlExpression": "1=1", "Parameters": {}})"),
         rule_path + ".Properties.SqlFilter.Parameters: unknown member"},
        {with_rule(R"("FilterType": "Correlation", "CorrelationFilter": {"Subject": "x"})"),
         rule_path + ".Properties.CorrelationFilter.Subject: unknown member"},
    };
    for (const auto& [json, expected] : unknown) {
        CHECK(complaint(json) == expected);
    }
}

TEST_CASE("configuration: known members that are not supported are named and ignored, or refused") {
    const std::string json = R"({"UserConfig": {
        "Logging": {"Type": "File", "Console": {"Level": 1}},
        "Namespaces": [{"Name": "n", "Properties": {}, "Logging": {"Type": "File"},
            "Queues": [{"Name": "q", "Properties": {
                "AutoDeleteOnIdle": "PT5M", "EnableBatchedOperations": true, "Status": "Active",
                "MaxSizeInMegabytes": 1024, "LockDuration": "PT30S"}}],
            "Topics": [{"Name": "t", "Properties": {"EnablePartitioning": false},
                "Subscriptions": [{"Name": "s", "Properties": {"UserMetadata": "x"}}]}]}]}})";
    const Configuration configuration = read(json);
    const std::string names = "UserConfig.Namespaces[0].";
    auto ignored = configuration.ignored;
    std::ranges::sort(ignored);
    CHECK(ignored == std::vector<std::string>{
                         "UserConfig.Logging.Console", names + "Logging", names + "Properties",
                         names + "Queues[0].Properties.AutoDeleteOnIdle",
                         names + "Queues[0].Properties.EnableBatchedOperations",
                         names + "Queues[0].Properties.MaxSizeInMegabytes",
                         names + "Queues[0].Properties.Status",
                         names + "Topics[0].Properties.EnablePartitioning",
                         names + "Topics[0].Subscriptions[0].Properties.UserMetadata"});
    CHECK(configuration.queues[0].options.lock_duration == 30s);
    CHECK(read(test::emulator_config).ignored.empty());
    const auto refusal = [](const std::string& text) {
        return read_configuration(text, {}, UnsupportedMembers::refuse).failure().detail;
    };
    CHECK(refusal(with_queue(R"("Status": "Active")")) == queue_path + ".Status: unknown member");
    CHECK(refusal(R"({"UserConfig": {"Namespaces": [{"Name": "n"}],
                                     "Logging": {"Type": "File", "Level": 1}}})") ==
          "UserConfig.Logging.Level: unknown member");
    CHECK(refusal(with_namespace(R"("Properties": {})")) ==
          "UserConfig.Namespaces[0].Properties: unknown member");
    CHECK(read_configuration(test::emulator_config, {}, UnsupportedMembers::refuse).ok());
}

TEST_CASE("configuration: rejects wrong types, ranges and names, and names their path") {
    const std::pair<std::string, std::string> wrong[] = {
        {"", "invalid JSON"},
        {R"({"UserConfig": )", "invalid JSON at byte"},
        {"[]", "expected an object"},
        {"{}", "UserConfig: required, but missing"},
        {R"({"UserConfig": {}})", "UserConfig.Namespaces: required, but missing"},
        {R"({"UserConfig": {"Namespaces": {}}})", "UserConfig.Namespaces: expected an array"},
        {R"({"UserConfig": {"Namespaces": []}})",
         "UserConfig.Namespaces: expected exactly one namespace"},
        {R"({"UserConfig": {"Namespaces": [{}]}})",
         "UserConfig.Namespaces[0].Name: required, but missing"},
        {R"({"UserConfig": {"UserConfig": 1, "UserConfig": 2}})",
         "duplicate member 'UserConfig' in an object"},
        {with_namespace(R"("Queues": [{"Name": ""}])"),
         "UserConfig.Namespaces[0].Queues[0].Name: must not be empty"},
        {with_namespace(R"("Queues": [{"Name": "a$b"}])"),
         "UserConfig.Namespaces[0].Queues[0]: the name of a queue or topic"},
        {with_namespace(R"("Queues": [{"Name": 5}])"),
         "UserConfig.Namespaces[0].Queues[0].Name: expected a string"},
        {with_namespace(R"("Queues": [{"Name": "a"}, {"Name": "A"}])"),
         "UserConfig.Namespaces[0].Queues[1]: entity 'A' already exists"},
        {with_namespace(R"("Queues": [{"Name": "a"}], "Topics": [{"Name": "a"}])"),
         "UserConfig.Namespaces[0].Topics[0]: entity 'a' already exists"},
        {with_queue(R"("LockDuration": 60)"), queue_path + ".LockDuration: expected a string"},
        {with_queue(R"("LockDuration": "60s")"),
         queue_path + ".LockDuration: expected an ISO 8601 duration"},
        {with_queue(R"("LockDuration": "PT6M")"),
         queue_path + ".LockDuration: must be above zero and at most 5 minutes"},
        {with_queue(R"("LockDuration": "PT0S")"), queue_path + ".LockDuration: must be above zero"},
        {with_queue(R"("DefaultMessageTimeToLive": "PT0S")"),
         queue_path + ".DefaultMessageTimeToLive: must be above zero"},
        {with_queue(R"("DuplicateDetectionHistoryTimeWindow": "P8D")"),
         queue_path +
             ".DuplicateDetectionHistoryTimeWindow: must be above zero and at most 7 days"},
        {with_queue(R"("MaxDeliveryCount": 0)"),
         queue_path + ".MaxDeliveryCount: expected a whole number from 1 to 2000"},
        {with_queue(R"("MaxDeliveryCount": 1.5)"),
         queue_path + ".MaxDeliveryCount: expected a whole number"},
        {with_queue(R"("MaxDeliveryCount": 18446744073709551615)"),
         queue_path + ".MaxDeliveryCount: expected a whole number"},
        {with_queue(R"("MaxDeliveryCount": 1e999)"), "a number is out of range"},
        {with_queue(R"("RequiresSession": "true")"),
         queue_path + ".RequiresSession: expected true or false"},
        {with_queue(R"("RequiresDuplicateDetection": 1)"),
         queue_path + ".RequiresDuplicateDetection: expected true or false"},
        {with_queue(R"("DeadLetteringOnMessageExpiration": null)"),
         queue_path + ".DeadLetteringOnMessageExpiration: expected true or false"},
        {with_queue(R"("ForwardTo": "none")"),
         queue_path + ".ForwardTo: unknown queue or topic 'none'"},
        {with_queue(R"("ForwardDeadLetteredMessagesTo": "none")"),
         queue_path + ".ForwardDeadLetteredMessagesTo: unknown queue or topic 'none'"},
        {with_queue(R"("ForwardTo": "R")"),
         queue_path + ".ForwardTo: messages forwarded by 'r' would return to it"},
        {with_queue(R"("ForwardDeadLetteredMessagesTo": "r")"),
         queue_path +
             ".ForwardDeadLetteredMessagesTo: messages forwarded by 'r' would return to it"},
        {with_queue(R"("ForwardTo": "q", "ForwardDeadLetteredMessagesTo": "r")"),
         queue_path +
             ".ForwardDeadLetteredMessagesTo: messages forwarded by 'r' would return to it"},
        {with_queue(R"("ForwardDeadLetteredMessagesTo": "q\u0007")"),
         queue_path + ".ForwardDeadLetteredMessagesTo: must be a name without control characters"},
        {with_queue(R"("ForwardTo": "q", "RequiresSession": true)"),
         queue_path + ".ForwardTo: an entity that requires sessions cannot forward"},
        {with_queue(R"("MessageOrder": "Size")"),
         queue_path + ".MessageOrder: expected \"Arrival\", \"Priority\" or \"Property\""},
        {with_queue(R"("MessageOrder": "Priority", "RequiresSession": true)"),
         queue_path + ".MessageOrder: an entity that requires sessions delivers by arrival"},
        {with_queue(R"("MessageOrder": "Property")"),
         "UserConfig.Namespaces[0].Queues[1]: order_property must be the name of a property"},
        {with_subscription(R"("Properties": {"ForwardTo": "t"})"),
         "UserConfig.Namespaces[0].Topics[0].Subscriptions[0].Properties.ForwardTo: messages "},
        {with_subscription(R"("Rules": [{"Name": "a"}, {"Name": "A"}])"),
         "UserConfig.Namespaces[0].Topics[0].Subscriptions[0]: rules[1]: rule 'A' already exists"},
        {with_rule(R"("FilterType": "Sql")"),
         rule_path + ".Properties.SqlFilter: required, but missing"},
        {with_rule(R"("SqlFilter": {"SqlExpression": "1=1"})"),
         rule_path + ".Properties.FilterType: required, but missing"},
        {with_rule(R"("FilterType": "XPath")"),
         rule_path + ".Properties.FilterType: expected \"Correlation\" or \"Sql\""},
        {with_rule(R"("FilterType": "Sql", "SqlFilter": {"SqlExpression": "a ="})"),
         rule_path + ": rule 'b': filter: "},
        {with_rule(
             R"("FilterType": "Sql", "SqlFilter": {"SqlExpression": "1=1"},
                 "Action": {"SqlExpression": "DROP a"})"),
         rule_path + ": rule 'b': action: "},
        {with_rule(
             R"("FilterType": "Sql", "SqlFilter": {"SqlExpression": "1=1"},
                 "CorrelationFilter": {"To": "x"})"),
         rule_path + ".Properties.CorrelationFilter: not allowed with FilterType \"Sql\""},
        {with_rule(R"("FilterType": "Correlation", "CorrelationFilter": {})"),
         rule_path + ".Properties.CorrelationFilter: expected at least one member"},
        {with_rule(
             R"("FilterType": "Correlation", "CorrelationFilter": {"Properties": {"p": []}})"),
         rule_path + ".Properties.CorrelationFilter.Properties.p: expected a string, a number, "
                     "true or false"},
    };
    for (const auto& [json, expected] : wrong) {
        CAPTURE(expected);
        CHECK(complaint(json).find(expected) != std::string::npos);
    }
}

TEST_CASE("configuration: may forward to existing queues, but not reuse their names") {
    const QueueEntry others[] = {{.name = "extra"}};
    CHECK(read_configuration(with_queue(R"("ForwardTo": "extra")"), others).ok());
    const auto taken =
        read_configuration(with_namespace(R"("Queues": [{"Name": "Extra"}])"), others);
    CHECK(taken.failure().detail ==
          "UserConfig.Namespaces[0].Queues[0]: entity 'Extra' already exists");
}
