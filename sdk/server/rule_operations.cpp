// SPDX-License-Identifier: MIT
#include "server/rule_operations.hpp"

#include <algorithm>
#include <utility>

#include "amqp/codec/rule_codec.hpp"
#include "broker/rule_book.hpp"
#include "server/management_answer.hpp"
#include "server/request_fields.hpp"

namespace sessionq::server::rule_operations {
namespace {

Answer has_no_rules() {
    return refuse(400, condition::not_allowed, "Only subscriptions have rules.");
}

} // namespace

Answer enumerate_rules(const ManagedEntity& entity, const Request& request) {
    const auto* book = entity.queue->rules();
    if (book == nullptr) {
        return has_no_rules();
    }
    const Page page = read_page(request.body);
    if (!page.missing.empty()) {
        return lacks(page.missing);
    }
    amqp::List described;
    const std::size_t top = std::min(page.top, entity.peer.limits.rules_per_page);
    for (const Rule& rule : book->list(page.skip, top)) {
        described.push_back(amqp::Value::map({{"rule-description", amqp::describe_rule(rule)}}));
    }
    return described.empty() ? no_content()
                             : ok(amqp::Value::map({{"rules", std::move(described)}}));
}

Answer add_rule(const ManagedEntity& entity, const Request& request) {
    auto* book = entity.queue->rules();
    if (book == nullptr) {
        return has_no_rules();
    }
    auto rule = amqp::read_rule(request.body);
    const auto added =
        rule ? book->add(std::move(rule).value()) : core::Result<core::Done>{rule.failure()};
    return added ? ok() : refuse(added.failure());
}

Answer remove_rule(const ManagedEntity& entity, const Request& request) {
    auto* book = entity.queue->rules();
    if (book == nullptr) {
        return has_no_rules();
    }
    const auto name = read_text(request.body, "rule-name");
    if (!name) {
        return lacks("rule-name");
    }
    const auto removed = book->remove(*name);
    if (removed || removed.failure().code != Errc::entity_not_found) {
        return removed ? ok() : refuse(removed.failure());
    }
    // one client recognises this error by its text
    amqp::Condition gone = entity_not_found(entity.queue->name() + "/Rules/" + std::string{*name});
    return refuse(404, gone.name, gone.text);
}

} // namespace sessionq::server::rule_operations
