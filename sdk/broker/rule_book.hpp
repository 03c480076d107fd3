#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "broker/filter/candidate.hpp"
#include "broker/filter/compiled_rule.hpp"

namespace sessionq::broker {

/// The rule of a subscription that was made without one: takes everything.
inline constexpr std::string_view default_rule_name = "$Default";

/// The rules of a subscription, in the order in which they came. Names are told apart without regard to case. Thread-safe.
class RuleBook {
public:
    /// `changed` is told all that are left after each change from now on, one after the other, within it.
    void set_listener(std::function<void(std::vector<Rule>)> changed);

    /// Fails with invalid_argument, duplicate_entity, quota_exceeded.
    core::Result<core::Done> add(Rule rule);

    /// Fails with entity_not_found.
    core::Result<core::Done> remove(std::string_view name);

    [[nodiscard]] std::vector<Rule> list() const;

    /// The copies of a message that go into the subscription: one for all rules without an action that take it, one for each other. Filters look at nothing where
    /// the message's properties cannot be decoded.
    [[nodiscard]] std::vector<MessageContentPtr> select(filter::Candidate& message) const;

private:
    using Rules = std::vector<std::shared_ptr<const filter::CompiledRule>>;

    void replace(std::shared_ptr<const Rules> rules);
    [[nodiscard]] static std::vector<Rule> list(const Rules& rules);
    [[nodiscard]] std::shared_ptr<const Rules> snapshot() const;
    [[nodiscard]] static Rules::const_iterator find(const Rules& rules, std::string_view name) noexcept;

    mutable std::mutex mutex_; // guards rules_, not what it points to, and changed_
    std::function<void(std::vector<Rule>)> changed_{};
    std::shared_ptr<const Rules> rules_{std::make_shared<Rules>()};
};

} // namespace sessionq::broker
