#include "server/rule_codec.hpp"

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "amqp/codec/property_value.hpp"

namespace sessionq::server {
namespace {

// The codes have two magnitudes. They are published so, and clients compare them.
namespace descriptor {
constexpr std::uint64_t rule = 0x13700000004U;
constexpr std::uint64_t no_action = 0x13700000005U;
constexpr std::uint64_t sql_action = 0x13700000006U;
constexpr std::uint64_t sql_filter = 0x1370000006U;
constexpr std::uint64_t true_filter = 0x1370000007U;
constexpr std::uint64_t false_filter = 0x1370000008U;
constexpr std::uint64_t correlation_filter = 0x1370000009U;
} // namespace descriptor

using Text = std::optional<std::string> CorrelationFilter::*;

// Listed in the order of the described list; the names are the keys of the map form.
constexpr std::array<std::pair<std::string_view, Text>, 8> correlation_texts{
    {{"correlation-id", &CorrelationFilter::correlation_id},
     {"message-id", &CorrelationFilter::message_id},
     {"to", &CorrelationFilter::to},
     {"reply-to", &CorrelationFilter::reply_to},
     {"label", &CorrelationFilter::subject},
     {"session-id", &CorrelationFilter::session_id},
     {"reply-to-session-id", &CorrelationFilter::reply_to_session_id},
     {"content-type", &CorrelationFilter::content_type}}};

Failure lacks(std::string_view what) {
    return {.code = Errc::invalid_argument,
            .detail = "the request body needs '" + std::string{what} + "' of the right type"};
}

// Returns the value under a key, or null if it is absent or null.
const amqp::Value* find_entry(const amqp::Value& map, std::string_view key) {
    const amqp::Value* found = map.find(key);
    return found == nullptr || found->is_null() ? nullptr : found;
}

std::optional<std::string> read_expression(const amqp::Value& map) {
    const amqp::Value* expression = find_entry(map, "expression");
    const auto text = expression != nullptr ? expression->text() : std::nullopt;
    return text ? std::optional{std::string{*text}} : std::nullopt;
}

core::Result<Filter> read_correlation(const amqp::Value& map) {
    CorrelationFilter filter;
    if (map.as<amqp::Map>() == nullptr) {
        return lacks("correlation-filter");
    }
    for (const auto& [key, member] : correlation_texts) {
        if (const amqp::Value* given = find_entry(map, key)) {
            const auto text = given->text();
            if (!text) {
                return lacks(key);
            }
            filter.*member = *text;
        }
    }
    if (const amqp::Value* given = find_entry(map, "properties")) {
        const auto* properties = given->as<amqp::Map>();
        if (properties == nullptr) {
            return lacks("properties");
        }
        for (const auto& [key, value] : *properties) {
            const auto name = key.text();
            if (!name) {
                return lacks("properties");
            }
            filter.properties.insert_or_assign(std::string{*name}, amqp::to_property(value));
        }
    }
    return Filter{std::move(filter)};
}

core::Result<Filter> read_filter(const amqp::Value& description) {
    if (const amqp::Value* sql = find_entry(description, "sql-filter")) {
        auto expression = read_expression(*sql);
        return expression ? core::Result<Filter>{SqlFilter{*std::move(expression)}}
                          : lacks("expression");
    }
    const amqp::Value* correlation = find_entry(description, "correlation-filter");
    return correlation != nullptr ? read_correlation(*correlation) : lacks("sql-filter");
}

amqp::Value described(std::uint64_t code, amqp::List fields) {
    return amqp::Value::described(amqp::Value{code}, amqp::Value{std::move(fields)});
}

amqp::Value describe_correlation(const CorrelationFilter& filter) {
    amqp::List fields;
    for (const auto& [key, member] : correlation_texts) {
        const auto& text = filter.*member;
        fields.push_back(text ? amqp::Value{*text} : amqp::Value{});
    }
    amqp::Map properties;
    for (const auto& [name, value] : filter.properties) {
        properties.emplace_back(amqp::Value{name}, amqp::to_value(value));
    }
    fields.emplace_back(std::move(properties));
    return described(descriptor::correlation_filter, std::move(fields));
}

amqp::Value describe_filter(const Filter& filter) {
    if (const auto* sql = std::get_if<SqlFilter>(&filter)) {
        return described(descriptor::sql_filter, {amqp::Value{sql->expression}});
    }
    if (const auto* correlation = std::get_if<CorrelationFilter>(&filter)) {
        return describe_correlation(*correlation);
    }
    return described(std::holds_alternative<TrueFilter>(filter) ? descriptor::true_filter
                                                                : descriptor::false_filter,
                     {});
}

} // namespace

core::Result<Rule> read_rule(const amqp::Value& body) {
    const amqp::Value* name = find_entry(body, "rule-name");
    const auto text = name != nullptr ? name->text() : std::nullopt;
    if (!text) {
        return lacks("rule-name");
    }
    const amqp::Value* description = find_entry(body, "rule-description");
    if (description == nullptr || description->as<amqp::Map>() == nullptr) {
        return lacks("rule-description");
    }
    auto filter = read_filter(*description);
    if (!filter) {
        return filter.failure();
    }
    Rule rule{.name = std::string{*text}, .filter = std::move(filter).value()};
    if (const amqp::Value* action = find_entry(*description, "sql-rule-action")) {
        auto expression = read_expression(*action);
        if (!expression) {
            return lacks("expression");
        }
        rule.action = *std::move(expression);
    }
    return rule;
}

amqp::Value describe_rule(const Rule& rule) {
    amqp::Value action = rule.action.empty()
                             ? described(descriptor::no_action, {})
                             : described(descriptor::sql_action, {amqp::Value{rule.action}});
    return described(descriptor::rule,
                     {describe_filter(rule.filter), std::move(action), amqp::Value{rule.name}});
}

} // namespace sessionq::server
