// SPDX-License-Identifier: MIT
#include "server/configured_rule.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "broker/filter/compiled_rule.hpp"

namespace sessionq::server {
namespace {

PropertyValue read_property(const JsonNode& node) {
    const auto& value = node.value();
    if (value.is_string()) {
        return value.get<std::string>();
    }
    if (value.is_boolean()) {
        return value.get<bool>();
    }
    if (value.is_number_float()) {
        return value.get<double>();
    }
    if (value.is_number_integer()) {
        return node.whole(std::numeric_limits<std::int64_t>::min(),
                          std::numeric_limits<std::int64_t>::max());
    }
    node.fail("expected a string, a number, true or false");
}

Filter read_correlation(const JsonNode& node) {
    static constexpr std::array<
        std::pair<const char*, std::optional<std::string> CorrelationFilter::*>, 8>
        texts{{{"ContentType", &CorrelationFilter::content_type},
               {"CorrelationId", &CorrelationFilter::correlation_id},
               {"Label", &CorrelationFilter::subject},
               {"MessageId", &CorrelationFilter::message_id},
               {"ReplyTo", &CorrelationFilter::reply_to},
               {"ReplyToSessionId", &CorrelationFilter::reply_to_session_id},
               {"SessionId", &CorrelationFilter::session_id},
               {"To", &CorrelationFilter::to}}};
    node.expect_members({"ContentType", "CorrelationId", "Label", "MessageId", "ReplyTo",
                         "ReplyToSessionId", "SessionId", "To", "Properties"});
    CorrelationFilter filter;
    for (const auto& [member, text] : texts) {
        if (const auto given = node.find(member)) {
            filter.*text = given->text();
        }
    }
    if (const auto properties = node.find("Properties")) {
        for (const auto& [name, value] : properties->members()) {
            filter.properties.emplace(name, read_property(value));
        }
    }
    if (filter == CorrelationFilter{}) {
        node.fail("expected at least one member");
    }
    return filter;
}

std::string read_sql(const JsonNode& node) {
    node.expect_members({"SqlExpression"});
    return node.at("SqlExpression").text();
}

void refuse(const std::optional<JsonNode>& node, const char* why) {
    if (node) {
        node->fail(why);
    }
}

} // namespace

Rule read_configured_rule(const JsonNode& node) {
    node.expect_members({"Name", "Properties"});
    Rule rule{.name = read_name(node)};
    if (const auto properties = node.find("Properties")) {
        properties->expect_members({"FilterType", "CorrelationFilter", "SqlFilter", "Action"});
        const JsonNode type = properties->at("FilterType");
        if (type.text() == "Correlation") {
            refuse(properties->find("SqlFilter"), "not allowed with FilterType \"Correlation\"");
            rule.filter = read_correlation(properties->at("CorrelationFilter"));
        } else if (type.text() == "Sql") {
            refuse(properties->find("CorrelationFilter"), "not allowed with FilterType \"Sql\"");
            rule.filter = SqlFilter{read_sql(properties->at("SqlFilter"))};
        } else {
            type.fail("expected \"Correlation\" or \"Sql\"");
        }
        if (const auto action = properties->find("Action")) {
            rule.action = read_sql(*action);
        }
    }
    if (const auto compiled = broker::filter::CompiledRule::make(rule); !compiled) {
        node.fail(compiled.failure().detail);
    }
    return rule;
}

} // namespace sessionq::server
