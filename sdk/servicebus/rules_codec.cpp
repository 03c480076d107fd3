// SPDX-License-Identifier: MIT
#include "servicebus/rules_codec.hpp"

#include "amqp/codec/rule_codec.hpp"

namespace sessionq::detail::servicebus {
namespace {

using ports::AddRule;
using ports::ListRules;
using ports::RemoveRule;
using Rules = std::vector<Rule>;

core::Result<Rules> read_list(const Response& response, const std::string& what) {
    Rules rules;
    if (response.status == 204) {
        return rules;
    }
    const amqp::List* const items = response.find_items("rules");
    if (items == nullptr) {
        return answer_without("rules", what);
    }
    for (const amqp::Value& each : *items) {
        const amqp::Value* const description = each.find("rule-description");
        if (description == nullptr) {
            return answer_without("rule-description", what);
        }
        auto rule = amqp::read_described_rule(*description);
        if (!rule) {
            return rule.failure();
        }
        rules.push_back(std::move(rule).value());
    }
    return rules;
}

} // namespace

std::pair<std::string, amqp::Map> rules_request(const ports::RulesTask& task) {
    if (const auto* const add = std::get_if<AddRule>(&task)) {
        return {"com.microsoft:add-rule", amqp::write_rule(add->rule)};
    }
    if (const auto* const remove = std::get_if<RemoveRule>(&task)) {
        return {"com.microsoft:remove-rule", {{"rule-name", remove->name}}};
    }
    const ListRules& list = std::get<ListRules>(task);
    return {"com.microsoft:enumerate-rules",
            {{"top", static_cast<std::int32_t>(list.top)},
             {"skip", static_cast<std::int32_t>(list.skip)}}};
}

core::Result<Rules> read_rules(const Response& response, const ports::RulesTask& task,
                               const std::string& entity) {
    const auto* const add = std::get_if<AddRule>(&task);
    const auto* const remove = std::get_if<RemoveRule>(&task);
    const std::string asked = add != nullptr      ? "add the rule '" + add->rule.name + "' to"
                              : remove != nullptr ? "remove the rule '" + remove->name + "' from"
                                                  : "list the rules of";
    const std::string complaint = "cannot " + asked + " '" + entity + "'";
    if (!response.is_success()) {
        return response.to_failure(complaint);
    }
    return std::holds_alternative<ListRules>(task) ? read_list(response, complaint)
                                                   : core::Result<Rules>{Rules{}};
}

} // namespace sessionq::detail::servicebus
