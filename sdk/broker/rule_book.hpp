#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "broker/filter/candidate.hpp"
#include "broker/filter/compiled_rule.hpp"
#include "broker/journal.hpp"

namespace sessionq::broker {

/// The rule of a subscription that was made without one: takes everything.
inline constexpr std::string_view default_rule_name = "$Default";

/// The rules of a subscription, in the order in which they came. Names are told apart without
/// regard to case. Thread-safe.
class RuleBook {
public:
    /// Changes from now on are the journal's too, as those of the subscription with this name and
    /// id.
    void keep_in(std::shared_ptr<Journal> journal, EntityId id, std::string name);

    /// Fails with invalid_argument, duplicate_entity, quota_exceeded (also: the disk is full),
    /// server_busy (nothing can be kept at present).
    core::Result<core::Done> add(Rule rule);

    /// Fails with entity_not_found, server_busy.
    core::Result<core::Done> remove(std::string_view name);

    [[nodiscard]] std::vector<Rule> list() const;

    /// The copies of a message that go into the subscription: one for all rules without an action
    /// that take it, one for each other. Filters look at nothing where the message's properties
    /// cannot be decoded.
    [[nodiscard]] std::vector<MessageContentPtr> select(filter::Candidate& message) const;

private:
    using Rules = std::vector<std::shared_ptr<const filter::CompiledRule>>;

    void replace(std::shared_ptr<const Rules> rules);
    [[nodiscard]] static std::vector<Rule> list(const Rules& rules);
    [[nodiscard]] std::shared_ptr<const Rules> snapshot() const;
    [[nodiscard]] static Rules::const_iterator find(const Rules& rules,
                                                    std::string_view name) noexcept;

    mutable std::mutex mutex_;           // guards all that follows, not what it points to
    std::shared_ptr<Journal> journal_{}; // null: nothing is kept
    EntityId id_{0};
    std::string name_{};
    std::shared_ptr<const Rules> rules_{std::make_shared<Rules>()};
};

} // namespace sessionq::broker
