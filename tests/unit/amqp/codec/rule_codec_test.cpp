// SPDX-License-Identifier: MIT
#include "amqp/codec/rule_codec.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "support/random_message.hpp"

using namespace sessionq;
using namespace sessionq::amqp;

namespace {

Value adding(Value description) {
    return Value::map({{"rule-name", "r"}, {"rule-description", std::move(description)}});
}

const Value& field(const Value& described, std::size_t i) {
    return (*described.described()->value.items())[i];
}
Value descriptor(const Value& described) { return described.described()->descriptor; }

} // namespace

TEST_CASE("rules on the wire: reads a SQL filter and an action, null or {} for none") {
    const Value sql = Value::map({{"expression", "a = 1"}});
    CHECK(read_rule(adding(Value::map({{"sql-filter", sql}}))).value() ==
          Rule{.name = "r", .filter = SqlFilter{"a = 1"}});
    for (const Value& none : {Value{}, Value{amqp::Map{}}}) {
        CHECK(read_rule(adding(Value::map(
                            {{"sql-filter", sql}, {"sql-rule-action", none}, {"rule-name", "r"}})))
                  .value()
                  .action.empty());
    }
    CHECK(read_rule(
              adding(Value::map({{"sql-filter", sql},
                                 {"sql-rule-action", Value::map({{"expression", "SET a = 2"}})}})))
              .value()
              .action == "SET a = 2");
}

TEST_CASE("rules on the wire: reads a correlation filter and ignores null members") {
    const Value map = Value::map(
        {{"correlation-id", "c"},
         {"message-id", Value{}},
         {"to", "t"},
         {"reply-to", "rt"},
         {"label", "l"},
         {"session-id", "s"},
         {"reply-to-session-id", "rs"},
         {"content-type", "ct"},
         {"properties", Value::map({{"p", std::int32_t{5}}, {Value::symbol("q"), "x"}})}});
    const CorrelationFilter filter{.content_type = "ct",
                                   .correlation_id = "c",
                                   .reply_to = "rt",
                                   .reply_to_session_id = "rs",
                                   .session_id = "s",
                                   .subject = "l",
                                   .to = "t",
                                   .properties = {{"p", std::int64_t{5}}, {"q", std::string{"x"}}}};
    CHECK(read_rule(adding(Value::map({{"correlation-filter", map}}))).value() ==
          Rule{.name = "r", .filter = filter});
}

TEST_CASE("rules on the wire: an error names the member that is missing or mistyped") {
    const auto complaint = [](const Value& body) { return read_rule(body).failure().detail; };
    const auto names = [&](const Value& body, const char* key) {
        return complaint(body).find(std::string{"'"} + key + "'") != std::string::npos;
    };
    CHECK(names(Value{}, "rule-name"));
    CHECK(names(Value::map({{"rule-name", std::int32_t{5}}}), "rule-name"));
    CHECK(names(Value::map({{"rule-name", "r"}}), "rule-description"));
    CHECK(names(adding("text"), "rule-description"));
    CHECK(names(adding(amqp::Map{}), "sql-filter"));
    CHECK(names(adding(Value::map({{"sql-filter", amqp::Map{}}})), "expression"));
    CHECK(names(adding(Value::map({{"correlation-filter", "x"}})), "correlation-filter"));
    CHECK(names(adding(Value::map({{"correlation-filter", Value::map({{"to", std::int32_t{5}}})}})),
                "to"));
    CHECK(names(adding(Value::map({{"correlation-filter", Value::map({{"properties", "x"}})}})),
                "properties"));
    CHECK(names(adding(Value::map({{"sql-filter", Value::map({{"expression", "1=1"}})},
                                   {"sql-rule-action", "x"}})),
                "expression"));
}

TEST_CASE("rules on the wire: writes rules as described lists") {
    const Value sql =
        describe_rule({.name = "r", .filter = SqlFilter{"a = 1"}, .action = "SET a = 2"});
    CHECK(descriptor(sql) == Value{std::uint64_t{1335734829060U}});
    CHECK(descriptor(field(sql, 0)) == Value{std::uint64_t{83483426822U}});
    CHECK(field(field(sql, 0), 0) == Value{"a = 1"});
    CHECK(descriptor(field(sql, 1)) == Value{std::uint64_t{1335734829062U}});
    CHECK(field(field(sql, 1), 0) == Value{"SET a = 2"});
    CHECK(field(sql, 2) == Value{"r"});
    const Value all = describe_rule({.name = "$Default"});
    CHECK(descriptor(field(all, 0)) == Value{std::uint64_t{83483426823U}});
    CHECK(descriptor(field(all, 1)) == Value{std::uint64_t{1335734829061U}});
    CHECK(descriptor(field(describe_rule({.name = "n", .filter = FalseFilter{}}), 0)) ==
          Value{std::uint64_t{83483426824U}});
    const Value correlation =
        field(describe_rule({.name = "c",
                             .filter = CorrelationFilter{.subject = "l",
                                                         .to = "t",
                                                         .properties = {{"p", std::int64_t{5}}}}}),
              0);
    CHECK(descriptor(correlation) == Value{std::uint64_t{83483426825U}});
    REQUIRE(correlation.described()->value.items()->size() == 9);
    CHECK(field(correlation, 0).is_null());
    CHECK(field(correlation, 2) == Value{"t"});
    CHECK(field(correlation, 4) == Value{"l"});
    CHECK(field(correlation, 8) == Value::map({{"p", std::int64_t{5}}}));
}

namespace {

const CorrelationFilter full_filter{.content_type = "ct",
                                    .correlation_id = "c",
                                    .message_id = "m",
                                    .reply_to = "rt",
                                    .reply_to_session_id = "rs",
                                    .session_id = "s",
                                    .subject = "l",
                                    .to = "t",
                                    .properties = {{"p", std::int64_t{5}}}};

const std::vector<Rule> all_kinds{
    {.name = "all", .filter = TrueFilter{}},
    {.name = "none", .filter = FalseFilter{}},
    {.name = "sql", .filter = SqlFilter{"a = 1"}, .action = "SET a = 2"},
    {.name = "full", .filter = full_filter},
    {.name = "subject", .filter = CorrelationFilter{.subject = "l"}},
    {.name = "empty", .filter = CorrelationFilter{}}};

} // namespace

TEST_CASE("rules on the wire: properties of a correlation filter keep their types") {
    Map properties;
    for (const Value& value : tests::values_of_every_type()) {
        properties.emplace_back("p" + std::to_string(properties.size()), value);
    }
    std::ranges::sort(properties, {}, [](const auto& entry) { return *entry.first.text(); });
    const Value body{
        Map{{"rule-name", "r"},
            {"rule-description", Map{{"correlation-filter", Map{{"properties", properties}}}}}}};
    const auto rule = read_rule(body);
    REQUIRE(rule.ok());
    const Value listed = describe_rule(rule.value());
    CHECK(field(field(listed, 0), 8) == Value{properties});
    const auto again = read_described_rule(listed);
    REQUIRE(again.ok());
    CHECK(Value{write_rule(again.value())} == body);
}

TEST_CASE("rules on the wire: what a client writes, a broker reads") {
    for (const Rule& rule : all_kinds) {
        CAPTURE(rule.name);
        Rule expected = rule;
        if (std::holds_alternative<TrueFilter>(rule.filter)) {
            expected.filter = SqlFilter{"1=1"}; // the wire has no other form
        } else if (std::holds_alternative<FalseFilter>(rule.filter)) {
            expected.filter = SqlFilter{"1=0"};
        }
        CHECK(read_rule(Value{write_rule(rule)}).value() == expected);
    }
}

TEST_CASE("rules on the wire: what a broker describes, a client reads") {
    for (const Rule& rule : all_kinds) {
        CAPTURE(rule.name);
        CHECK(read_described_rule(describe_rule(rule)).value() == rule);
    }
    CHECK(read_described_rule(describe_rule({.name = "r", .filter = SqlFilter{"1=1"}})).value() ==
          Rule{.name = "r", .filter = TrueFilter{}});
}

TEST_CASE("rules on the wire: a description that is none is the broker's error, and is named") {
    const Value good = describe_rule({.name = "r", .filter = SqlFilter{"a = 1"}});
    const auto with = [&](std::size_t index, Value value) {
        List fields = *good.described()->value.items();
        fields[index] = std::move(value);
        return Value::described(descriptor(good), Value{std::move(fields)});
    };
    const auto complaint = [](const Value& value) {
        const auto read = read_described_rule(value);
        REQUIRE_FALSE(read.ok());
        CHECK(read.failure().code == Errc::protocol_error);
        return read.failure().detail;
    };
    CHECK(complaint(Value{}).ends_with("no name"));
    CHECK(complaint(Value{List{}}).ends_with("no name"));
    CHECK(complaint(Value::described(descriptor(good), Value{List{}})).ends_with("no name"));
    CHECK(complaint(with(2, std::int32_t{5})).ends_with("no name"));
    CHECK(complaint(with(0, Value{})).ends_with("no filter"));
    CHECK(complaint(with(0, Value::described(Value{std::uint64_t{1}}, Value{List{}})))
              .ends_with("an unknown kind of filter"));
    CHECK(complaint(with(0, Value::described(descriptor(field(good, 0)), Value{List{}})))
              .ends_with("an SQL filter without an expression"));
    CHECK(read_described_rule(with(1, Value{})).value().action.empty());
}
