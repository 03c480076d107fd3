// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include <sessionq/message_content.hpp>
#include <sessionq/rule.hpp>

#include "broker/filter/cost.hpp"
#include "broker/filter/sql_parser.hpp"
#include "core/result.hpp"

namespace sessionq::broker::filter {

/// A parsed rule, ready to be applied to messages. Immutable.
class CompiledRule {
public:
    /// Parses a rule. Fails with invalid_argument, naming the part that is wrong: the name, the
    /// filter or the action. Also fails so beyond the bounds in `limits.hpp`.
    [[nodiscard]] static core::Result<CompiledRule> make(Rule rule);

    [[nodiscard]] const Rule& rule() const noexcept { return rule_; }
    [[nodiscard]] bool has_action() const noexcept { return !statements_.empty(); }
    /// Whether `matches` reads the message at all.
    [[nodiscard]] bool reads_messages() const noexcept;

    /// An upper limit of the steps that `matches` and `apply` take together.
    [[nodiscard]] std::uint64_t most_steps(const Extent& extent, std::size_t content_bytes) const;

    [[nodiscard]] bool matches(const Message& message, Work& work) const;

    /// The content after the action, with the rule's name in the property `RuleName`. `outline`
    /// must be that of `content`.
    [[nodiscard]] MessageContentPtr apply(const MessageContent& content, Message outline,
                                          Work& work) const;

private:
    explicit CompiledRule(Rule rule) : rule_{std::move(rule)} {}

    Rule rule_;
    NodePtr condition_{}; // of a SQL filter
    std::vector<Statement> statements_{};
    Cost cost_{};
};

} // namespace sessionq::broker::filter
