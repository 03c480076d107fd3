#pragma once

#include <vector>

#include <sessionq/message_content.hpp>
#include <sessionq/rule.hpp>

#include "broker/filter/sql_parser.hpp"
#include "core/result.hpp"

namespace sessionq::broker::filter {

/// A rule, ready to be asked. Immutable.
class CompiledRule {
public:
    /// Fails with invalid_argument, naming what is wrong: the name, the filter or the action.
    [[nodiscard]] static core::Result<CompiledRule> make(Rule rule);

    [[nodiscard]] const Rule& rule() const noexcept { return rule_; }
    [[nodiscard]] bool has_action() const noexcept { return !statements_.empty(); }
    /// Whether `matches` looks at the message at all.
    [[nodiscard]] bool reads_messages() const noexcept;

    [[nodiscard]] bool matches(const Message& message) const;

    /// The content as the action leaves it, with the rule's name in the property `RuleName`.
    /// `outline` is that of the content.
    [[nodiscard]] MessageContentPtr apply(const MessageContent& content, Message outline) const;

private:
    explicit CompiledRule(Rule rule) : rule_{std::move(rule)} {}

    Rule rule_;
    NodePtr condition_{}; // of a SQL filter
    std::vector<Statement> statements_{};
};

} // namespace sessionq::broker::filter
