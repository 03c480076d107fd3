// SPDX-License-Identifier: MIT
#include "broker/rule_book.hpp"

#include <algorithm>

#include "broker/filter/limits.hpp"
#include "broker/journal_faults.hpp"
#include "core/ascii_case.hpp"

namespace sessionq::broker {

bool RuleSelection::run(filter::Candidate& message, filter::Work& work) {
    static const Message unread;
    for (; next_ < rules_->size(); ++next_) {
        const filter::CompiledRule& rule = *(*rules_)[next_];
        const bool reads = rule.reads_messages() || rule.has_action();
        if (is_taken_ && !rule.has_action()) {
            continue;
        }
        const Message* outline = reads ? message.outline(work) : &unread;
        if (outline == nullptr) {
            continue;
        }
        if (!work.begin(rule.most_steps(message.extent(), message.content()->bytes()))) {
            return false;
        }
        apply(rule, *outline, message, work);
    }
    return true;
}

void RuleSelection::apply(const filter::CompiledRule& rule, const Message& outline,
                          const filter::Candidate& message, filter::Work& work) {
    work.add(filter::Work::steps_a_node);
    if (!rule.matches(outline, work)) {
        return;
    }
    if (!rule.has_action()) {
        is_taken_ = true;
        copies_.push_back({.content = message.content()});
        return;
    }
    if (made_ > most_made) {
        copies_.push_back({.content = message.content(), .is_too_large = true});
        return;
    }
    copies_.push_back(
        {.content = rule.apply(*message.content(), outline, work), .is_changed = true});
    made_ += copies_.back().content->bytes();
}

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
    if (rules_->size() >= filter::most_rules) {
        return Failure{.code = Errc::quota_exceeded,
                       .detail = "a subscription may have at most " +
                                 std::to_string(filter::most_rules) + " rules"};
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
    const auto actions =
        std::ranges::count_if(*rules_, [](const RulePtr& rule) { return rule->has_action(); });
    const bool has_plain = static_cast<std::size_t>(actions) < rules_->size();
    most_copies_.store(static_cast<std::size_t>(actions) + (has_plain ? 1 : 0),
                       std::memory_order_relaxed);
    if (journal_) {
        journal_->append({RulesChanged{.queue = id_, .rules = as_added(*rules_)}});
    }
}

std::vector<Rule> RuleBook::as_added(const Rules& rules) {
    std::vector<Rule> all;
    for (const RulePtr& rule : rules) {
        all.push_back(rule->rule());
    }
    return all;
}

std::vector<Rule> RuleBook::list() const { return list(0, filter::most_rules); }

std::vector<Rule> RuleBook::list(std::size_t skip, std::size_t top) const {
    Rules by_name = *snapshot();
    std::ranges::sort(by_name, [](const RulePtr& one, const RulePtr& other) {
        return core::less_ignoring_case(one->rule().name, other->rule().name);
    });
    std::vector<Rule> page;
    for (std::size_t i = skip; i < by_name.size() && page.size() < top; ++i) {
        page.push_back(by_name[i]->rule());
    }
    return page;
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
