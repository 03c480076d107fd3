// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "server/configuration_change.hpp"

using namespace sessionq;
using namespace sessionq::server;

namespace {

std::vector<std::string> names(const auto& entries) {
    std::vector<std::string> found;
    for (const auto& entry : entries) {
        found.push_back(entry.name);
    }
    return found;
}

using Names = std::vector<std::string>;

} // namespace

TEST_CASE("ConfigurationChange: what is new is created, what is gone or otherwise stays") {
    const QueueEntry same{.name = "same"};
    const SubscriptionEntry red{.name = "red", .rules = {{.name = "r", .filter = FalseFilter{}}}};
    SubscriptionEntry wider = red;
    wider.rules[0].filter = TrueFilter{};
    const Configuration before{
        .queues = {same, {.name = "changed"}, {.name = "gone"}},
        .topics = {{.name = "news", .subscriptions = {red, {.name = "left"}}}, {.name = "old"}}};
    const Configuration now{.queues = {{.name = "SAME"},
                                       {.name = "changed", .options = {.max_delivery_count = 7}},
                                       {.name = "new"}},
                            .topics = {{.name = "news", .subscriptions = {wider, {.name = "more"}}},
                                       {.name = "fresh", .subscriptions = {red}}}};
    broker::Broker broker;
    REQUIRE(create_entities(broker, before, {}));
    const ConfigurationChange change = compare(before, now);
    CHECK(names(change.added.queues) == Names{"new"});
    CHECK(names(change.added.topics) == Names{"fresh"});
    CHECK(change.kept ==
          Names{"gone", "changed", "old", "news/Subscriptions/left", "news/Subscriptions/red"});
    REQUIRE(apply(change, broker, {}));
    CHECK(broker.names(broker::EntityKind::queue) == Names{"changed", "gone", "new", "same"});
    CHECK(broker.names(broker::EntityKind::topic) == Names{"fresh", "news", "old"});
    CHECK(broker.find("news/Subscriptions/more").ok());
    CHECK(broker.find("fresh/Subscriptions/red").ok());
    CHECK(compare(now, now).kept.empty());
}
