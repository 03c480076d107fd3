// SPDX-License-Identifier: MIT
#include "contract/port_case.hpp"
#include "core/ascii_case.hpp"

using namespace sessionq;
using namespace sessionq::test;

namespace {

using Rules = std::vector<Rule>;
using ports::AddRule;
using ports::ListRules;
using ports::RemoveRule;

core::Result<Rules> manage(PortCase& t, ports::RulesTask task, const std::string& entity) {
    return t
        .finish<Rules>([&](auto handler) {
            t.endpoint->manage_rules({.entity = entity, .task = std::move(task)},
                                     std::move(handler));
        })
        .result();
}

} // namespace

PORT_CASE(
    "rules: added, listed by name in pages and removed; each kind of filter comes back as it was") {
    PortCase t{port};
    NEEDS(t, rules);
    if (t.target() == t.entity) {
        CHECK(manage(t, ListRules{}, t.entity).failure().code == Errc::not_supported);
        return; // a queue
    }
    const Rules before = manage(t, ListRules{}, t.entity).value();
    const Rules added{{.name = "all", .filter = TrueFilter{}},
                      {.name = "none", .filter = FalseFilter{}},
                      {.name = "sql", .filter = SqlFilter{"a = 1"}, .action = "SET a = 2"},
                      {.name = "correlated",
                       .filter = CorrelationFilter{
                           .correlation_id = "c",
                           .subject = "s",
                           .properties = {{"p", std::int64_t{5}}, {"q", std::string{"x"}}}}}};
    REQUIRE(before.size() == 1);
    CHECK(manage(t, AddRule{before.front()}, t.entity).failure().code == Errc::duplicate_entity);
    CHECK(manage(t, RemoveRule{core::lower_case(before.front().name)}, t.entity).ok());
    CHECK(manage(t, RemoveRule{"all"}, t.entity).failure().code == Errc::entity_not_found);
    for (const Rule& rule : added) {
        CHECK(manage(t, AddRule{rule}, t.entity).ok());
    }
    const Rules by_name{added[0], added[3], added[1], added[2]};
    CHECK(manage(t, ListRules{}, t.entity).value() == by_name);
    CHECK(manage(t, ListRules{.skip = 1, .top = 2}, t.entity).value() ==
          Rules{by_name[1], by_name[2]});
    CHECK(manage(t, ListRules{.skip = 4}, t.entity).value().empty());
}

PORT_CASE("rules: what cannot be read is refused, and an entity that is not there") {
    PortCase t{port};
    NEEDS(t, rules);
    CHECK(manage(t, ListRules{}, "none/subscriptions/such").failure().code ==
          Errc::entity_not_found);
    if (t.target() != t.entity) {
        const Rule bad{.name = "bad", .filter = SqlFilter{"a = = 1"}};
        const auto refused = manage(t, AddRule{bad}, t.entity);
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.failure().code == Errc::invalid_argument);
    }
}

PORT_CASE("rules: a request past its deadline changes nothing") {
    PortCase t{port};
    NEEDS(t, rules);
    const auto late = t.finish<Rules>([&](auto handler) {
        t.endpoint->manage_rules({.entity = t.entity,
                                  .task = RemoveRule{"all"},
                                  .deadline = Deadline::at(t.endpoint->loop().now() - 1s)},
                                 std::move(handler));
    });
    CHECK(late.failure() == Errc::timeout);
    if (t.target() != t.entity) {
        CHECK(manage(t, ListRules{}, t.entity).value().size() == 1);
    }
}
