// SPDX-License-Identifier: MIT
#include <sessionq/rule_manager.hpp>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "client/browsing/page_progress.hpp"
#include "client/calls/blocking.hpp"
#include "client/calls/operation.hpp"
#include "client/check.hpp"
#include "client/rule_manager_core.hpp"
#include "core/access.hpp"
#include "core/as_result.hpp"
#include "core/id_check.hpp"

namespace sessionq::detail::client {
namespace {

using Rules = RuleManagerCore::Rules;

constexpr std::uint32_t rules_per_page = 100; // Azure Service Bus allows no more
constexpr std::size_t longest_rule_name = 50;

void check_rule_name(std::string_view name) {
    require_argument(!name.empty(), "the name of the rule is empty");
    require_argument(core::characters(name) <= longest_rule_name,
                     "the name of the rule is longer than 50 characters");
    check_text(name, "the name of the rule");
}

void check_filter(const CorrelationFilter& filter) {
    const auto check = [](const std::optional<std::string>& text, std::string_view name) {
        check_text(text.value_or(""), name);
    };
    check(filter.content_type, "CorrelationFilter::content_type");
    check(filter.correlation_id, "CorrelationFilter::correlation_id");
    check(filter.message_id, "CorrelationFilter::message_id");
    check(filter.reply_to, "CorrelationFilter::reply_to");
    check(filter.reply_to_session_id, "CorrelationFilter::reply_to_session_id");
    check(filter.session_id, "CorrelationFilter::session_id");
    check(filter.subject, "CorrelationFilter::subject");
    check(filter.to, "CorrelationFilter::to");
    check_properties(filter.properties, "CorrelationFilter::properties");
}

void check_texts(const Rule& rule) {
    if (const auto* const sql = std::get_if<SqlFilter>(&rule.filter)) {
        check_text(sql->expression, "SqlFilter::expression");
    } else if (const auto* const correlation = std::get_if<CorrelationFilter>(&rule.filter)) {
        check_filter(*correlation);
    }
    check_text(rule.action, "Rule::action");
}

/// Whether a full page has a rule that `found` does not have. If not, the broker repeats its first
/// page for ever.
bool brings_news(const Rules& page, const Rules& found) {
    std::set<std::string_view> known;
    for (const Rule& rule : found) {
        known.insert(rule.name);
    }
    return std::ranges::any_of(page,
                               [&known](const Rule& rule) { return !known.contains(rule.name); });
}

/// Requests the page behind `found` and adds it, until a page is not full.
void ask_rules(ports::Endpoint& endpoint, const std::string& subscription, Rules found,
               const PendingPtr<Rules>& pending) {
    ports::RulesRequest request{
        .entity = subscription,
        .task = ports::ListRules{.skip = static_cast<std::uint32_t>(found.size()),
                                 .top = rules_per_page},
        .deadline = pending->deadline()};
    const auto id = endpoint.manage_rules(
        std::move(request), [&endpoint, subscription, found = std::move(found),
                             pending](core::Result<Rules> page) mutable {
            if (pending->ended()) {
                return;
            }
            if (!page) {
                pending->complete(std::move(page));
                return;
            }
            const bool is_last = page.value().size() < rules_per_page;
            if (!is_last && !brings_news(page.value(), found)) {
                pending->complete(
                    no_progress("it lists the same rules of '" + subscription + "' again"));
                return;
            }
            std::ranges::move(page.value(), std::back_inserter(found));
            if (is_last) {
                pending->complete(std::move(found));
            } else {
                ask_rules(endpoint, subscription, std::move(found), pending);
            }
        });
    pending->ask_port([&endpoint, id] { endpoint.give_up(id); });
}

} // namespace

RuleManagerCore::RuleManagerCore(std::shared_ptr<ClientCore> client, std::string subscription)
    : client_{std::move(client)},
      subscription_{std::move(subscription)},
      thread_{client_->next_thread()} {
    check_entity(subscription_);
    client_->capabilities().require(ports::Capability::rules);
}

PublicCall<Rules, void> RuleManagerCore::add(Rule rule, const CallOptions& call) const {
    check_rule_name(rule.name);
    check_texts(rule);
    return change({.task = ports::AddRule{.rule = std::move(rule)}}, call);
}

PublicCall<Rules, void> RuleManagerCore::remove(std::string name, const CallOptions& call) const {
    check_rule_name(name);
    return change({.task = ports::RemoveRule{.name = std::move(name)}}, call);
}

PublicCall<Rules, void> RuleManagerCore::change(ports::RulesRequest request,
                                                const CallOptions& call) const {
    request.entity = subscription_;
    return {
        endpoint_operation<Rules>(
            client_, thread_, call,
            [request = std::move(request)](ports::Endpoint& endpoint, Deadline deadline,
                                           auto answer_to) mutable {
                request.deadline = deadline;
                return endpoint.manage_rules(std::move(request), std::move(answer_to));
            }),
        [](core::Result<Rules> answer) { static_cast<void>(std::move(answer).take_or_throw()); }};
}

PublicCall<Rules> RuleManagerCore::list(const CallOptions& call) const {
    return {make_operation<Rules>(
        client_, *thread_.thread, call,
        [&thread = thread_, subscription = subscription_](const PendingPtr<Rules>& pending) {
            ask_rules(*thread.endpoint, subscription, {}, pending);
        })};
}

} // namespace sessionq::detail::client

namespace sessionq::inline v1 {

RuleManager::RuleManager(const Client& client, std::string subscription)
    : core_{std::make_shared<const detail::client::RuleManagerCore>(
          detail::client::Access::core(client), std::move(subscription))} {}

const std::string& RuleManager::subscription() const {
    return detail::client::Access::core(*this)->subscription();
}

void RuleManager::add(Rule rule, const CallOptions& call) const {
    detail::client::block(detail::client::Access::core(*this)->add(std::move(rule), call));
}

void RuleManager::remove(std::string name, const CallOptions& call) const {
    detail::client::block(detail::client::Access::core(*this)->remove(std::move(name), call));
}

std::vector<Rule> RuleManager::list(const CallOptions& call) const {
    return detail::client::block(detail::client::Access::core(*this)->list(call));
}

Result<RuleManager> RuleManager::try_make(const Client& client, std::string subscription) noexcept {
    return core::as_result([&] { return RuleManager{client, std::move(subscription)}; });
}

Result<void> RuleManager::try_add(Rule rule, const CallOptions& call) const noexcept {
    return core::as_result([&] { add(std::move(rule), call); });
}

Result<void> RuleManager::try_remove(std::string name, const CallOptions& call) const noexcept {
    return core::as_result([&] { remove(std::move(name), call); });
}

Result<std::vector<Rule>> RuleManager::try_list(const CallOptions& call) const noexcept {
    return core::as_result([&] { return list(call); });
}

} // namespace sessionq::inline v1
