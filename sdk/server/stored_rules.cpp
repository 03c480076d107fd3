// SPDX-License-Identifier: MIT
#include "server/stored_rules.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "amqp/codec/property_value.hpp"

namespace sessionq::server {
namespace {

// A rule is a list of name, action, the index of the filter's type in `Filter`, and the filter's
// fields.
constexpr std::size_t fields_before_filter = 3;

constexpr std::array<std::optional<std::string> CorrelationFilter::*, 8> correlation_texts{
    &CorrelationFilter::content_type,
    &CorrelationFilter::correlation_id,
    &CorrelationFilter::message_id,
    &CorrelationFilter::reply_to,
    &CorrelationFilter::reply_to_session_id,
    &CorrelationFilter::session_id,
    &CorrelationFilter::subject,
    &CorrelationFilter::to};

void write_fields(const TrueFilter&, amqp::List&) {}
void write_fields(const FalseFilter&, amqp::List&) {}
void write_fields(const SqlFilter& filter, amqp::List& to) { to.emplace_back(filter.expression); }
void write_fields(const CorrelationFilter& filter, amqp::List& to) {
    for (const auto member : correlation_texts) {
        const auto& text = filter.*member;
        to.push_back(text ? amqp::Value{*text} : amqp::Value{});
    }
    amqp::Map properties;
    for (const auto& [name, value] : filter.properties) {
        properties.emplace_back(amqp::Value{name}, amqp::to_value(value));
    }
    to.emplace_back(std::move(properties));
}

using Fields = std::vector<amqp::Value>; // of the whole rule

bool read_fields(const Fields&, TrueFilter&) { return true; }
bool read_fields(const Fields&, FalseFilter&) { return true; }
bool read_fields(const Fields& fields, SqlFilter& to) {
    const auto text =
        fields.size() > fields_before_filter ? fields[fields_before_filter].text() : std::nullopt;
    to.expression = text.value_or(std::string_view{});
    return text.has_value();
}
bool read_fields(const Fields& fields, CorrelationFilter& to) {
    constexpr std::size_t properties_at = fields_before_filter + correlation_texts.size();
    if (fields.size() <= properties_at) {
        return false;
    }
    for (std::size_t i = 0; i < correlation_texts.size(); ++i) {
        if (const auto text = fields[fields_before_filter + i].text()) {
            to.*correlation_texts[i] = *text;
        }
    }
    const auto* properties = fields[properties_at].as<amqp::Map>();
    if (properties == nullptr) {
        return false;
    }
    for (const auto& [name, value] : *properties) {
        to.properties.insert_or_assign(std::string{name.text().value_or(std::string_view{})},
                                       amqp::to_property(value));
    }
    return true;
}

template <std::size_t Place = 0>
bool read_filter(std::size_t place, const Fields& fields, Filter& to) {
    if constexpr (Place == std::variant_size_v<Filter>) {
        return false;
    } else {
        return place == Place ? read_fields(fields, to.emplace<Place>())
                              : read_filter<Place + 1>(place, fields, to);
    }
}

std::optional<Rule> read_stored_rule(const amqp::Value& value) {
    const auto* fields = value.items();
    if (fields == nullptr || fields->size() < fields_before_filter) {
        return std::nullopt;
    }
    const auto name = (*fields)[0].text();
    const auto action = (*fields)[1].text();
    const auto place = (*fields)[2].unsigned_integer();
    Rule rule;
    if (!name || !action || !place ||
        !read_filter(static_cast<std::size_t>(*place), *fields, rule.filter)) {
        return std::nullopt;
    }
    rule.name = *name;
    rule.action = *action;
    return rule;
}

} // namespace

amqp::Value to_stored(const std::vector<Rule>& rules) {
    amqp::List all;
    for (const Rule& rule : rules) {
        amqp::List fields{amqp::Value{rule.name}, amqp::Value{rule.action},
                          amqp::Value{static_cast<std::uint32_t>(rule.filter.index())}};
        std::visit([&](const auto& filter) { write_fields(filter, fields); }, rule.filter);
        all.emplace_back(std::move(fields));
    }
    return all;
}

std::optional<std::vector<Rule>> read_stored(const amqp::Value& value) {
    const auto* items = value.as<amqp::List>();
    if (items == nullptr) {
        return std::nullopt;
    }
    std::vector<Rule> rules;
    for (const amqp::Value& item : *items) {
        auto rule = read_stored_rule(item);
        if (!rule) {
            return std::nullopt;
        }
        rules.push_back(*std::move(rule));
    }
    return rules;
}

} // namespace sessionq::server
