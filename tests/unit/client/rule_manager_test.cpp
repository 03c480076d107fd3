// SPDX-License-Identifier: MIT
#include <sessionq/rule_manager.hpp>

#include <doctest/doctest.h>

#include <algorithm>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include <sessionq/async.hpp>
#include <sessionq/browser.hpp>
#include <sessionq/local_broker.hpp>
#include <sessionq/sender.hpp>

#include "support/code_of.hpp"

using namespace sessionq;
using test::code_of;

namespace {

struct RuleManagerFixture {
    RuleManagerFixture() {
        broker.create_topic("orders");
        broker.create_subscription("orders", "audit");
    }

    LocalBroker broker{};
    Client client{Client::in_process(broker)};
    RuleManager rules{client, "orders/subscriptions/audit"};
};

} // namespace

TEST_CASE("rule manager: a rule decides what the subscription gets from then on") {
    RuleManagerFixture f;
    CHECK(f.rules.list() == std::vector<Rule>{{.name = "$Default"}});
    f.rules.remove("$default"); // case does not matter
    f.rules.add({.name = "large", .filter = SqlFilter{"amount > 10"}});
    Sender sender{f.client, "orders"};
    for (const std::int64_t amount : {5, 50}) {
        Message message = Message::of(std::to_string(amount)).in_session("a");
        message.properties["amount"] = amount;
        sender.send(message);
    }
    Browser browser{f.client, f.rules.subscription()};
    const auto seen = browser.peek(10);
    REQUIRE(seen.size() == 1);
    CHECK(seen.front().text() == "50");
}

TEST_CASE("rule manager: lists more rules than a page holds, by name") {
    RuleManagerFixture f;
    for (int i = 0; i < 250; ++i) {
        f.rules.add({.name = "r" + std::to_string(i), .filter = FalseFilter{}});
    }
    const auto listed = f.rules.list();
    REQUIRE(listed.size() == 251);
    CHECK(std::ranges::is_sorted(listed, {}, &Rule::name));
    CHECK(listed[250].name == "r99");
}

TEST_CASE("rule manager: what is wrong is refused and named") {
    RuleManagerFixture f;
    CHECK(code_of([&] { f.rules.add({.name = "$Default"}); }) == Errc::duplicate_entity);
    CHECK(code_of([&] { f.rules.remove("none"); }) == Errc::entity_not_found);
    CHECK(code_of([&] { f.rules.add({}); }) == Errc::invalid_argument);
    CHECK(code_of([&] { f.rules.add({.name = std::string(51, 'x')}); }) == Errc::invalid_argument);
    CHECK(code_of([&] { f.rules.remove(""); }) == Errc::invalid_argument);
    CHECK_THROWS_WITH(f.rules.add({.name = "bad", .filter = SqlFilter{"a = = 1"}}),
                      doctest::Contains("bad"));
    f.broker.create_queue("queue");
    const RuleManager of_queue{f.client, "queue"};
    CHECK(code_of([&] { static_cast<void>(of_queue.list()); }) == Errc::not_supported);
    CHECK(code_of([&] { static_cast<void>(RuleManager{f.client, ""}); }) == Errc::invalid_argument);
}

TEST_CASE("rule manager: coroutines do the same") {
    RuleManagerFixture f;
    asio::io_context io;
    std::vector<Rule> listed;
    asio::co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            const Rule rule{.name = "r", .filter = SqlFilter{"a = 1"}};
            co_await async_add_rule(f.rules, rule);
            co_await async_remove_rule(f.rules, "$Default");
            listed = co_await async_list_rules(f.rules);
        },
        [](const std::exception_ptr& failed) { CHECK_FALSE(failed); });
    io.run();
    REQUIRE(listed.size() == 1);
    CHECK(listed.front().name == "r");
}
