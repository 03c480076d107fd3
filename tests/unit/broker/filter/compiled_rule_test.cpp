// SPDX-License-Identifier: MIT
#include "broker/filter/compiled_rule.hpp"

#include <doctest/doctest.h>

#include "amqp/codec/encoded_content.hpp"
#include "amqp/codec/encoder.hpp"
#include "amqp/codec/property_value.hpp"
#include "support/random_message.hpp"

using namespace sessionq;
using namespace sessionq::broker::filter;

namespace {

Message message() {
    return {.body = "body",
            .session_id = "s",
            .message_id = "m",
            .subject = "label",
            .correlation_id = "c",
            .reply_to = "r",
            .reply_to_session_id = "rs",
            .to = "t",
            .content_type = "ct",
            .properties = {{"Count", std::int64_t{7}}, {"kind", std::string{"a"}}}};
}

bool takes(Filter filter) {
    Work work{0};
    return CompiledRule::make({.name = "r", .filter = std::move(filter)})
        .value()
        .matches(message(), work);
}

Message after(std::string action) {
    const DecodedContent content{message()};
    Work work{0};
    return CompiledRule::make({.name = "r", .action = std::move(action)})
        .value()
        .apply(content, *content.outline(), work)
        ->message();
}

std::shared_ptr<const amqp::EncodedContent> encoded_with(const amqp::Value& value) {
    const std::string encoded = amqp::encode(amqp::Value::described(
        amqp::section::application_properties, amqp::Value::map({{"k", value}})));
    return amqp::EncodedContent::make(encoded, {}).value();
}

std::string_view encoded_property(const MessageContent& content, std::string_view name) {
    return amqp::find_entry(
        dynamic_cast<const amqp::EncodedContent&>(content).sections().application_properties, name);
}

std::optional<double> numeric(const PropertyValue& value) {
    if (const auto* decimal = std::get_if<Decimal>(&value)) {
        return decimal->to_double();
    }
    if (const auto* whole = std::get_if<std::int64_t>(&value)) {
        return static_cast<double>(*whole);
    }
    if (const auto* whole = std::get_if<std::uint64_t>(&value)) {
        return static_cast<double>(*whole);
    }
    const auto* number = std::get_if<double>(&value);
    return number != nullptr ? std::optional{*number} : std::nullopt;
}

std::string complaint(Rule rule) {
    const auto made = CompiledRule::make(std::move(rule));
    return made ? std::string{} : made.failure().detail;
}

} // namespace

TEST_CASE("rule: true and false filters do not read the message") {
    CHECK(takes(TrueFilter{}));
    CHECK_FALSE(takes(FalseFilter{}));
    CHECK_FALSE(CompiledRule::make({.name = "r"}).value().reads_messages());
    CHECK(CompiledRule::make({.name = "r", .filter = SqlFilter{"1=1"}}).value().reads_messages());
}

TEST_CASE("rule: a correlation filter requires each value that it names, exactly") {
    const CorrelationFilter all{
        .content_type = "ct",
        .correlation_id = "c",
        .message_id = "m",
        .reply_to = "r",
        .reply_to_session_id = "rs",
        .session_id = "s",
        .subject = "label",
        .to = "t",
        .properties = {{"Count", std::int64_t{7}}, {"kind", std::string{"a"}}}};
    CHECK(takes(all));
    CHECK(takes(CorrelationFilter{}));
    for (auto member : {&CorrelationFilter::content_type, &CorrelationFilter::correlation_id,
                        &CorrelationFilter::message_id, &CorrelationFilter::reply_to,
                        &CorrelationFilter::reply_to_session_id, &CorrelationFilter::session_id,
                        &CorrelationFilter::subject, &CorrelationFilter::to}) {
        CorrelationFilter other = all;
        other.*member = "other";
        CHECK_FALSE(takes(other));
    }
    CHECK_FALSE(takes(CorrelationFilter{.subject = "Label"}));
    CHECK(takes(CorrelationFilter{.properties = {{"count", 7.0}}}));
    CHECK_FALSE(takes(CorrelationFilter{.properties = {{"count", std::string{"7"}}}}));
    CHECK_FALSE(takes(CorrelationFilter{.properties = {{"missing", {}}}}));
}

TEST_CASE("rule: a SQL filter matches if it is true, not if it is unknown") {
    CHECK(takes(SqlFilter{"count = 7 AND sys.Label = 'label'"}));
    CHECK_FALSE(takes(SqlFilter{"missing = 7"}));
    CHECK_FALSE(takes(SqlFilter{"NOT missing = 7"}));
}

TEST_CASE("rule: an action's statements see earlier changes, and nothing else changes") {
    const Message set = after("SET count = count / 2; SET twice = count * 2; SET sys.Label = kind "
                              "+ '!', SET sys.To = count SET none = missing");
    CHECK(set.properties == Properties{{"Count", std::int64_t{3}},
                                       {"RuleName", std::string{"r"}},
                                       {"kind", std::string{"a"}},
                                       {"none", {}},
                                       {"twice", std::int64_t{6}}});
    CHECK(set.subject == "a!");
    CHECK(set.to == "3");
    CHECK(set.body == "body");
    CHECK(set.session_id == "s");
    const Message removed = after("REMOVE COUNT; SET kind = 'b'; REMOVE kind; REMOVE missing; "
                                  "REMOVE sys.SessionId; REMOVE sys.ReplyTo; SET sys.To = NULL");
    CHECK(removed.properties == Properties{{"RuleName", std::string{"r"}}});
    CHECK_FALSE(removed.session_id);
    CHECK(removed.reply_to.empty());
    CHECK(removed.to.empty());
    CHECK(removed.correlation_id == "c");
    CHECK(after("REMOVE kind; SET kind = 'b'").properties.at("kind") ==
          PropertyValue{std::string{"b"}});
}

TEST_CASE("rule: an action keeps the type of a value that it copies") {
    using amqp::Value;
    const std::vector<Value> values = tests::values_of_every_type();
    for (const Value& value : values) {
        CAPTURE(value.to_string());
        const auto content = encoded_with(value);
        Work work{0};
        const auto rule = CompiledRule::make({.name = "r", .action = "SET copy = k"});
        const auto changed = rule.value().apply(*content, *content->outline(), work);
        CHECK(encoded_property(*changed, "copy") == amqp::encode(value));
        CHECK(encoded_property(*changed, "k") == amqp::encode(value));
    }
}

TEST_CASE("rule: an action's own values have their types") {
    const auto content = encoded_with(amqp::Value{std::int32_t{2}});
    Work work{0};
    const auto rule = CompiledRule::make(
        {.name = "r",
         .action = "SET id = newid(); SET sys.ContentType = 'text/plain'; SET sys.Label = id; "
                   "SET sum = k + 1"});
    const auto changed = rule.value().apply(*content, *content->outline(), work);
    CHECK(std::holds_alternative<Uuid>(*changed->property("id")));
    CHECK(encoded_property(*changed, "id").starts_with('\x98'));
    CHECK(changed->message().subject == std::get<Uuid>(*changed->property("id")).to_string());
    CHECK(encoded_property(*changed, "sum") == amqp::encode(amqp::Value{std::int64_t{3}}));
    const auto properties = dynamic_cast<const amqp::EncodedContent&>(*changed).properties();
    CHECK(properties.encoded[amqp::MessageProperties::content_type] == "\xa3\x0atext/plain");
}

TEST_CASE("rule: a correlation filter compares values of every type") {
    const std::vector<amqp::Value> values = tests::values_of_every_type();
    for (const amqp::Value& wanted : values) {
        const auto rule = CompiledRule::make(
            {.name = "r",
             .filter = CorrelationFilter{.properties = {{"k", amqp::to_property(wanted)}}}});
        for (const amqp::Value& sent : values) {
            CAPTURE(wanted.to_string());
            CAPTURE(sent.to_string());
            const PropertyValue one = amqp::to_property(wanted);
            const PropertyValue other = amqp::to_property(sent);
            Work work{0};
            const bool is_number = numeric(one) && numeric(other);
            const bool expected =
                !wanted.is_null() && (is_number ? numeric(one) == numeric(other) : one == other);
            CHECK(rule.value().matches(*encoded_with(sent)->outline(), work) == expected);
        }
    }
    const auto ten = CompiledRule::make(
        {.name = "r",
         .filter = CorrelationFilter{.properties = {{"k", *Decimal::parse("10.00")}}}});
    const auto passes = [&](const char* text) {
        Work work{0};
        return ten.value().matches({.properties = {{"k", *Decimal::parse(text)}}}, work);
    };
    CHECK(passes("10"));
    CHECK_FALSE(passes("99.95"));
}

TEST_CASE("rule: an error names the rule and its wrong part") {
    CHECK(complaint({.name = ""}).find("name") != std::string::npos);
    CHECK(complaint({.name = std::string(51, 'x')}).find("1 to 50") != std::string::npos);
    CHECK(complaint({.name = "r", .filter = SqlFilter{"a ="}}).find("rule 'r': filter: ") == 0);
    CHECK(complaint({.name = "r", .action = "SET"}).find("rule 'r': action: ") == 0);
}

namespace {

std::string statements(std::size_t count) {
    std::string action;
    for (std::size_t i = 0; i < count; ++i) {
        action += "SET a=1;";
    }
    return action;
}

Properties properties(std::size_t count) {
    Properties made;
    for (std::size_t i = 0; i < count; ++i) {
        made.emplace("p" + std::to_string(i), std::int64_t{1});
    }
    return made;
}

} // namespace

TEST_CASE("rule: an action has at most 32 statements") {
    CHECK(complaint({.name = "r", .action = statements(32)}).empty());
    CHECK(complaint({.name = "r", .action = statements(33)}).find("at most 32 statements") !=
          std::string::npos);
}

TEST_CASE("rule: a correlation filter has at most 100 properties with texts of 1024 bytes") {
    const auto with = [](CorrelationFilter filter) {
        return complaint({.name = "r", .filter = std::move(filter)});
    };
    CHECK(with({.properties = properties(100)}).empty());
    CHECK(with({.properties = properties(101)}).find("at most 100 properties; it has 101") !=
          std::string::npos);
    const std::string longest(1024, 'x');
    const std::string longer(1025, 'x');
    CHECK(with({.subject = longest, .properties = {{longest, longest}}}).empty());
    for (const CorrelationFilter& filter :
         {CorrelationFilter{.subject = longer}, CorrelationFilter{.properties = {{longer, true}}},
          CorrelationFilter{.properties = {{"a", longer}}}}) {
        CHECK(with(filter).find("at most 1024 bytes") != std::string::npos);
    }
}

TEST_CASE("rule: a text that an action joins has at most 32 KiB; a longer one is unknown") {
    const std::size_t most = 32'768;
    const auto joined = [](std::size_t first, std::size_t second) {
        const DecodedContent content{Message{
            .properties = {{"a", std::string(first, 'x')}, {"b", std::string(second, 'y')}}}};
        Work work{0};
        const auto made = CompiledRule::make({.name = "r", .action = "SET c = a + b"})
                              .value()
                              .apply(content, *content.outline(), work);
        return made->message().properties.at("c");
    };
    CHECK(std::get<std::string>(joined(most - 1, 1)).size() == most);
    CHECK(joined(most, 1) == PropertyValue{});
}

TEST_CASE("rule: doubling a property with each statement does not double the work") {
    std::string action;
    for (int i = 0; i < 32; ++i) {
        action += "SET a=a+a;";
    }
    const DecodedContent content{Message{.properties = {{"a", std::string(10'000, 'x')}}}};
    Work work{0};
    const auto made = CompiledRule::make({.name = "r", .action = action})
                          .value()
                          .apply(content, *content.outline(), work);
    CHECK(made->message().properties.at("a") == PropertyValue{});
    CHECK(work.done() < 200'000);
}

TEST_CASE("rule: an action costs the copy of the message") {
    const auto rule = CompiledRule::make({.name = "r", .action = "SET a = 1"}).value();
    const auto steps = [&](const Message& message) {
        const DecodedContent content{message};
        Work work{0};
        static_cast<void>(rule.apply(content, *content.outline(), work));
        return work.done();
    };
    constexpr std::size_t more = 100;
    const std::uint64_t small = steps({.body = "x"});
    CHECK(steps({.body = std::string(1 + more * Work::text_bytes_a_step, 'x')}) == small + more);
    CHECK(steps({.body = "x", .properties = {{"b", true}}}) > small + 100);
}

TEST_CASE("rule: reading a text costs its copy and its use") {
    const auto rule = CompiledRule::make({.name = "r", .filter = SqlFilter{"a IS NULL"}}).value();
    const auto steps = [&](std::size_t length) {
        Work work{0};
        CHECK_FALSE(rule.matches({.properties = {{"a", std::string(length, 'x')}}}, work));
        return work.done();
    };
    constexpr std::size_t more = 100;
    CHECK(steps(more * Work::text_bytes_a_step) == steps(0) + 2 * more);
}

TEST_CASE(
    "rule: a pattern in a property has at most 1024 bytes; with a longer one LIKE is unknown") {
    const auto matches = [](std::size_t length) {
        Work work{0};
        return CompiledRule::make({.name = "r", .filter = SqlFilter{"a LIKE b"}})
            .value()
            .matches({.properties = {{"a", std::string{"x"}}, {"b", std::string(length, '%')}}},
                     work);
    };
    CHECK(matches(1024));
    CHECK_FALSE(matches(1025));
}

TEST_CASE("rule: REMOVE takes all spellings of a name, and as long as there are properties") {
    Properties many;
    for (std::uint32_t i = 0; i < 1'024; ++i) {
        std::string name = "aaaaaaaaaa";
        for (std::size_t at = 0; at < name.size(); ++at) {
            name[at] = (i >> at & 1U) != 0 ? 'A' : 'a';
        }
        many.emplace(name, true);
    }
    many.emplace("b", true);
    const DecodedContent content{Message{.properties = many}};
    Work work{0};
    const auto made = CompiledRule::make({.name = "r", .action = "REMOVE aaaaaaaaaa"})
                          .value()
                          .apply(content, *content.outline(), work);
    CHECK(made->message().properties == Properties{{"RuleName", std::string{"r"}}, {"b", true}});
    CHECK(work.done() < 200'000);
}

TEST_CASE("rule: no message makes it take more steps than it says") {
    const Message messages[] = {
        message(),
        {.properties = {{"a", std::string(30'000, 'a')}, {"b", std::string(1'000, '%')}}},
        {.subject = std::string(5'000, 'a'), .properties = properties(500)},
    };
    for (const char* const condition :
         {"a LIKE '%aaaaaaaaaaaaaaaaaab%'", "a LIKE b", "a + a LIKE '%a_a_ab' OR sys.Label = a",
          "a IN (a, b, c, d) AND EXISTS(a) AND x IS NULL", "1 = 1"}) {
        const Rule rule{.name = "r", .filter = SqlFilter{condition}, .action = "SET x = a + a"};
        const auto made = CompiledRule::make(rule);
        REQUIRE(made.ok());
        for (const Message& one : messages) {
            const DecodedContent content{one};
            Work work{0};
            static_cast<void>(made.value().matches(one, work));
            static_cast<void>(made.value().apply(content, one, work));
            INFO(condition);
            CHECK(work.done() <= made.value().most_steps(Extent::of(one), content.bytes()));
        }
    }
}
