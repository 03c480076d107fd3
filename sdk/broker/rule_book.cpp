#include "broker/rule_book.hpp"

#include <algorithm>

#include "broker/journal_faults.hpp"
#include "core/ascii_case.hpp"

namespace sessionq::broker {
namespace {

constexpr std::size_t max_rules = 2000;

} // namespace

core::Result<core::Done> RuleBook::add(Rule rule) {
    auto compiled = filter::CompiledRule::make(std::move(rule));
    if (!compiled) {
        return compiled.failure();
    }
    auto made = std::make_shared<const filter::CompiledRule>(std::move(compiled).value());
    const std::lock_guard lock{mutex_};
    if (auto fault = find_journal_fault(journal_.get(), name_, Growth::adds)) {
        return std::move(*fault);
    }
    if (find(*rules_, made->rule().name) != rules_->end()) {
        return Failure{.code = Errc::duplicate_entity,
                       .detail = "rule '" + made->rule().name + "' already exists"};
    }
    if (rules_->size() >= max_rules) {
        return Failure{.code = Errc::quota_exceeded,
                       .detail = "a subscription may have at most " + std::to_string(max_rules) +
                                 " rules"};
    }
    auto changed = std::make_shared<Rules>(*rules_);
    changed->push_back(std::move(made));
    replace(std::move(changed));
    return core::Done{};
}

core::Result<core::Done> RuleBook::remove(std::string_view name) {
    const std::lock_guard lock{mutex_};
    const auto found = find(*rules_, name);
    if (found == rules_->end()) {
        return Failure{.code = Errc::entity_not_found,
                       .detail = "there is no rule '" + std::string{name} + "'"};
    }
    if (auto fault = find_journal_fault(journal_.get(), name_, Growth::none)) {
        return std::move(*fault);
    }
    auto changed = std::make_shared<Rules>(*rules_);
    changed->erase(changed->begin() + (found - rules_->begin()));
    replace(std::move(changed));
    return core::Done{};
}

void RuleBook::record_in(std::shared_ptr<Journal> journal, EntityId id, std::string name) {
    const std::lock_guard lock{mutex_};
    journal_ = std::move(journal);
    id_ = id;
    name_ = std::move(name);
}

void RuleBook::replace(std::shared_ptr<const Rules> rules) {
    rules_ = std::move(rules);
    if (journal_) {
        journal_->append({RulesChanged{.queue = id_, .rules = list(*rules_)}});
    }
}

std::vector<Rule> RuleBook::list() const { return list(*snapshot()); }

std::vector<Rule> RuleBook::list(const Rules& rules) {
    std::vector<Rule> all;
    for (const auto& rule : rules) {
        all.push_back(rule->rule());
    }
    return all;
}

std::vector<MessageContentPtr> RuleBook::select(filter::Candidate& message) const {
    static const Message unread;
    std::vector<MessageContentPtr> copies;
    bool is_taken = false;
    for (const auto& rule : *snapshot()) {
        if (is_taken && !rule->has_action()) {
            continue;
        }
        const Message* outline =
            rule->reads_messages() || rule->has_action() ? message.outline() : &unread;
        if (outline == nullptr || !rule->matches(*outline)) {
            continue;
        }
        is_taken = is_taken || !rule->has_action();
        copies.push_back(rule->has_action() ? rule->apply(*message.content(), *outline)
                                            : message.content());
    }
    return copies;
}

std::shared_ptr<const RuleBook::Rules> RuleBook::snapshot() const {
    const std::lock_guard lock{mutex_};
    return rules_;
}

RuleBook::Rules::const_iterator RuleBook::find(const Rules& rules, std::string_view name) noexcept {
    return std::ranges::find_if(rules, [name](const auto& rule) {
        return core::equal_ignoring_case(rule->rule().name, name);
    });
}

} // namespace sessionq::broker
