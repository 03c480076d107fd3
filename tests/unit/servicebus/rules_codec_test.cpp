// SPDX-License-Identifier: MIT
#include "servicebus/rules_codec.hpp"

#include <doctest/doctest.h>

#include "amqp/codec/rule_codec.hpp"

using namespace sessionq;
using amqp::Value;
using ports::AddRule;
using ports::ListRules;
using ports::RemoveRule;

TEST_CASE("rules: each request has its operation and body") {
    const Rule rule{.name = "r", .filter = SqlFilter{"a = 1"}};
    CHECK(detail::servicebus::rules_request(AddRule{rule}) ==
          std::pair{std::string{"com.microsoft:add-rule"}, amqp::write_rule(rule)});
    CHECK(detail::servicebus::rules_request(RemoveRule{"r"}) ==
          std::pair{std::string{"com.microsoft:remove-rule"}, amqp::Map{{"rule-name", "r"}}});
    CHECK(detail::servicebus::rules_request(ListRules{.skip = 3, .top = 7}) ==
          std::pair{std::string{"com.microsoft:enumerate-rules"},
                    amqp::Map{{"top", std::int32_t{7}}, {"skip", std::int32_t{3}}}});
}

TEST_CASE("rules: the answer to a list is read rule by rule; nothing is an empty list") {
    const Rule rule{.name = "r", .filter = SqlFilter{"a = 1"}};
    const auto read = [](std::int64_t status, Value body) {
        return detail::servicebus::read_rules({.status = status, .body = std::move(body)},
                                              ListRules{}, "t/subscriptions/s");
    };
    const Value entry = Value::map({{"rule-description", amqp::describe_rule(rule)}});
    CHECK(read(200, Value::map({{"rules", amqp::List{entry, entry}}})).value() ==
          std::vector<Rule>{rule, rule});
    CHECK(read(204, {}).value().empty());
    const auto complaint = [&](Value body) { return read(200, std::move(body)).failure(); };
    CHECK(complaint({}).detail == "cannot list the rules of 't/subscriptions/s': the broker's "
                                  "answer has no 'rules'");
    CHECK(complaint(Value::map({{"rules", amqp::List{Value::map({})}}}))
              .detail.ends_with("has no 'rule-description'"));
    CHECK(complaint(Value::map({{"rules", amqp::List{Value::map({{"rule-description", "x"}})}}}))
              .code == Errc::protocol_error);
}

TEST_CASE("rules: a refusal names the rule and the subscription") {
    const detail::servicebus::Response gone{
        .status = 404, .description = "gone", .condition = "amqp:not-found"};
    const Failure removed = detail::servicebus::read_rules(gone, RemoveRule{"r"}, "s").failure();
    CHECK(removed.code == Errc::entity_not_found);
    CHECK(removed.detail.find("cannot remove the rule 'r' from 's'") != std::string::npos);
    const detail::servicebus::Response there{.status = 409,
                                             .condition = "com.microsoft:entity-already-exists"};
    const Failure added =
        detail::servicebus::read_rules(there, AddRule{{.name = "r"}}, "s").failure();
    CHECK(added.code == Errc::duplicate_entity);
    CHECK(added.detail.find("cannot add the rule 'r' to 's'") != std::string::npos);
    CHECK(detail::servicebus::read_rules({.status = 200}, AddRule{}, "s").value().empty());
}
