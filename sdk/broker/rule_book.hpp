// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "broker/filter/candidate.hpp"
#include "broker/filter/compiled_rule.hpp"
#include "broker/journal.hpp"

namespace sessionq::broker {

/// The rule of a subscription that was created without rules. It matches every message.
inline constexpr std::string_view default_rule_name = "$Default";

/// The application of a subscription's rules to a message, in turns. A subscription's rules may
/// change meanwhile; the message meets those that there were when it began.
class RuleSelection {
public:
    using RulePtr = std::shared_ptr<const filter::CompiledRule>;
    using Rules = std::vector<RulePtr>;

    explicit RuleSelection(std::shared_ptr<const Rules> rules) noexcept
        : rules_{std::move(rules)} {}

    /// Applies rules while `work` has room for the next one. Returns true once all are applied.
    [[nodiscard]] bool run(filter::Candidate& message, filter::Work& work);

    /// A copy of the message that goes into the subscription.
    struct Copy {
        MessageContentPtr content{};
        /// An action has changed it.
        bool is_changed{false};
        /// It is unchanged, because the actions make more of the message than `most_made`.
        bool is_too_large{false};
    };

    /// The most bytes that the actions of a subscription may make of one message, in all copies.
    static constexpr std::size_t most_made = std::size_t{16} << 20U;

    /// One copy for all matching rules without an action, and one for each matching rule with an
    /// action. If the message's properties cannot be decoded, only rules that do not read them
    /// match.
    [[nodiscard]] std::vector<Copy>& copies() noexcept { return copies_; }
    /// The bytes that actions have made.
    [[nodiscard]] std::size_t made() const noexcept { return made_; }

private:
    void apply(const filter::CompiledRule& rule, const Message& outline,
               const filter::Candidate& message, filter::Work& work);

    std::shared_ptr<const Rules> rules_;
    std::size_t next_{0};
    bool is_taken_{false}; // by a rule without an action
    std::vector<Copy> copies_{};
    std::size_t made_{0};
};

/// The rules of a subscription, in the order in which they were added. Names are compared without
/// regard to case. Thread-safe.
class RuleBook {
public:
    /// Records changes in `journal` from now on, under the subscription's name and id.
    void record_in(std::shared_ptr<Journal> journal, EntityId id, std::string name);

    /// Fails with invalid_argument, duplicate_entity, quota_exceeded (too many rules, or a full
    /// disk) or server_busy (the journal is failing).
    core::Result<core::Done> add(Rule rule);

    /// Fails with entity_not_found or server_busy.
    core::Result<core::Done> remove(std::string_view name);

    /// By name, as Azure Service Bus lists them.
    [[nodiscard]] std::vector<Rule> list() const;
    /// Up to `top` rules after the first `skip`.
    [[nodiscard]] std::vector<Rule> list(std::size_t skip, std::size_t top) const;

    /// The most copies of one message that the rules make.
    [[nodiscard]] std::size_t most_copies() const noexcept {
        return most_copies_.load(std::memory_order_relaxed);
    }

    /// Begins to apply the rules to a message.
    [[nodiscard]] RuleSelection select() const { return RuleSelection{snapshot()}; }

private:
    using RulePtr = RuleSelection::RulePtr;
    using Rules = RuleSelection::Rules;

    void replace(std::shared_ptr<const Rules> rules);
    [[nodiscard]] static std::vector<Rule> as_added(const Rules& rules);
    [[nodiscard]] std::shared_ptr<const Rules> snapshot() const;
    [[nodiscard]] static Rules::const_iterator find(const Rules& rules,
                                                    std::string_view name) noexcept;

    mutable std::mutex mutex_; // guards the members below, not the objects that they point to
    std::shared_ptr<Journal> journal_{}; // null: nothing is stored
    EntityId id_{0};
    std::string name_{};
    std::shared_ptr<const Rules> rules_{std::make_shared<Rules>()};
    std::atomic<std::size_t> most_copies_{0};
};

} // namespace sessionq::broker
