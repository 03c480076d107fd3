// SPDX-License-Identifier: MIT
#include "amqp/codec/rule_codec.hpp"

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "amqp/codec/property_value.hpp"

namespace sessionq::amqp {
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
const Value* find_entry(const Value& map, std::string_view key) {
    const Value* found = map.find(key);
    return found == nullptr || found->is_null() ? nullptr : found;
}

std::optional<std::string> read_expression(const Value& map) {
    const Value* expression = find_entry(map, "expression");
    const auto text = expression != nullptr ? expression->text() : std::nullopt;
    return text ? std::optional{std::string{*text}} : std::nullopt;
}

core::Result<Filter> read_correlation(const Value& map) {
    CorrelationFilter filter;
    if (map.as<Map>() == nullptr) {
        return lacks("correlation-filter");
    }
    for (const auto& [key, member] : correlation_texts) {
        if (const Value* given = find_entry(map, key)) {
            const auto text = given->text();
            if (!text) {
                return lacks(key);
            }
            filter.*member = *text;
        }
    }
    if (const Value* given = find_entry(map, "properties")) {
        const auto* properties = given->as<Map>();
        if (properties == nullptr) {
            return lacks("properties");
        }
        for (const auto& [key, value] : *properties) {
            const auto name = key.text();
            if (!name) {
                return lacks("properties");
            }
            filter.properties.insert_or_assign(std::string{*name}, to_property(value));
        }
    }
    return Filter{std::move(filter)};
}

core::Result<Filter> read_filter(const Value& description) {
    if (const Value* sql = find_entry(description, "sql-filter")) {
        auto expression = read_expression(*sql);
        return expression ? core::Result<Filter>{SqlFilter{*std::move(expression)}}
                          : lacks("expression");
    }
    const Value* correlation = find_entry(description, "correlation-filter");
    return correlation != nullptr ? read_correlation(*correlation) : lacks("sql-filter");
}

Value described(std::uint64_t code, List fields) {
    return Value::described(Value{code}, Value{std::move(fields)});
}

Value describe_correlation(const CorrelationFilter& filter) {
    List fields;
    for (const auto& [key, member] : correlation_texts) {
        const auto& text = filter.*member;
        fields.push_back(text ? Value{*text} : Value{});
    }
    Map properties;
    for (const auto& [name, value] : filter.properties) {
        properties.emplace_back(Value{name}, to_value(value));
    }
    fields.emplace_back(std::move(properties));
    return described(descriptor::correlation_filter, std::move(fields));
}

Value describe_filter(const Filter& filter) {
    if (const auto* sql = std::get_if<SqlFilter>(&filter)) {
        return described(descriptor::sql_filter, {Value{sql->expression}});
    }
    if (const auto* correlation = std::get_if<CorrelationFilter>(&filter)) {
        return describe_correlation(*correlation);
    }
    return described(std::holds_alternative<TrueFilter>(filter) ? descriptor::true_filter
                                                                : descriptor::false_filter,
                     {});
}

// Every message, and none, in SQL. No other form of these filters can be sent.
constexpr std::string_view sql_of_all = "1=1";
constexpr std::string_view sql_of_none = "1=0";

Filter simplified(SqlFilter filter) {
    if (filter.expression == sql_of_all) {
        return TrueFilter{};
    }
    if (filter.expression == sql_of_none) {
        return FalseFilter{};
    }
    return filter;
}

Map write_correlation(const CorrelationFilter& filter) {
    Map map;
    for (const auto& [key, member] : correlation_texts) {
        if (const auto& text = filter.*member) {
            map.emplace_back(std::string{key}, *text);
        }
    }
    if (!filter.properties.empty()) {
        Map properties;
        for (const auto& [name, value] : filter.properties) {
            properties.emplace_back(name, to_value(value));
        }
        map.emplace_back("properties", std::move(properties));
    }
    return map;
}

Failure misread(const std::string& what) {
    return {.code = Errc::protocol_error,
            .detail = "the broker's description of a rule has " + what};
}

/// A described list, and which kind of filter or action it is.
struct Part {
    std::uint64_t code{0};
    const List* fields{nullptr};
};

std::optional<Part> part_of(const Value& value) {
    const Described* const described = value.described();
    const auto code = described != nullptr ? described->descriptor.integer() : std::nullopt;
    const List* const fields = described != nullptr ? described->value.items() : nullptr;
    return code && fields != nullptr
               ? std::optional{Part{static_cast<std::uint64_t>(*code), fields}}
               : std::nullopt;
}

std::optional<std::string> text_at(const List& fields, std::size_t index) {
    const auto text = index < fields.size() ? fields[index].text() : std::nullopt;
    return text ? std::optional{std::string{*text}} : std::nullopt;
}

core::Result<Filter> read_described_correlation(const List& fields) {
    CorrelationFilter filter;
    for (std::size_t i = 0; i < correlation_texts.size(); ++i) {
        filter.*correlation_texts[i].second = text_at(fields, i);
    }
    const Map* const properties = correlation_texts.size() < fields.size()
                                      ? fields[correlation_texts.size()].as<Map>()
                                      : nullptr;
    if (properties != nullptr) {
        for (const auto& [key, value] : *properties) {
            const auto name = key.text();
            if (!name) {
                return misread("a property without a name");
            }
            filter.properties.insert_or_assign(std::string{*name}, to_property(value));
        }
    }
    return Filter{std::move(filter)};
}

core::Result<Filter> read_described_filter(const Value& value) {
    const auto part = part_of(value);
    if (!part) {
        return misread("no filter");
    }
    switch (part->code) {
    case descriptor::true_filter: return Filter{TrueFilter{}};
    case descriptor::false_filter: return Filter{FalseFilter{}};
    case descriptor::correlation_filter: return read_described_correlation(*part->fields);
    case descriptor::sql_filter:
        if (auto expression = text_at(*part->fields, 0)) {
            return simplified({*std::move(expression)});
        }
        return misread("an SQL filter without an expression");
    default: return misread("an unknown kind of filter");
    }
}

} // namespace

Map write_rule(const Rule& rule) {
    Map description;
    if (const auto* correlation = std::get_if<CorrelationFilter>(&rule.filter)) {
        description.emplace_back("correlation-filter", write_correlation(*correlation));
    } else {
        const auto* const sql = std::get_if<SqlFilter>(&rule.filter);
        const bool selects_all = std::holds_alternative<TrueFilter>(rule.filter);
        description.emplace_back(
            "sql-filter",
            Map{{"expression", sql != nullptr
                                   ? sql->expression
                                   : std::string{selects_all ? sql_of_all : sql_of_none}}});
    }
    if (!rule.action.empty()) {
        description.emplace_back("sql-rule-action", Map{{"expression", rule.action}});
    }
    return {{"rule-name", rule.name}, {"rule-description", std::move(description)}};
}

core::Result<Rule> read_rule(const Value& body) {
    const Value* name = find_entry(body, "rule-name");
    const auto text = name != nullptr ? name->text() : std::nullopt;
    if (!text) {
        return lacks("rule-name");
    }
    const Value* description = find_entry(body, "rule-description");
    if (description == nullptr || description->as<Map>() == nullptr) {
        return lacks("rule-description");
    }
    auto filter = read_filter(*description);
    if (!filter) {
        return filter.failure();
    }
    Rule rule{.name = std::string{*text}, .filter = std::move(filter).value()};
    const Value* action = find_entry(*description, "sql-rule-action");
    // One client says by an empty map that there is no action.
    if (action != nullptr && *action != Value{Map{}}) {
        auto expression = read_expression(*action);
        if (!expression) {
            return lacks("expression");
        }
        rule.action = *std::move(expression);
    }
    return rule;
}

Value describe_rule(const Rule& rule) {
    Value action = rule.action.empty() ? described(descriptor::no_action, {})
                                       : described(descriptor::sql_action, {Value{rule.action}});
    return described(descriptor::rule,
                     {describe_filter(rule.filter), std::move(action), Value{rule.name}});
}

core::Result<Rule> read_described_rule(const Value& described) {
    const auto part = part_of(described);
    const auto name =
        part && part->code == descriptor::rule ? text_at(*part->fields, 2) : std::nullopt;
    if (!name) {
        return misread("no name");
    }
    auto filter = read_described_filter(part->fields->front());
    if (!filter) {
        return filter.failure();
    }
    Rule rule{.name = *name, .filter = std::move(filter).value()};
    const auto action = part_of((*part->fields)[1]);
    if (action && action->code == descriptor::sql_action) {
        rule.action = text_at(*action->fields, 0).value_or("");
    }
    return rule;
}

} // namespace sessionq::amqp
