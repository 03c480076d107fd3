// SPDX-License-Identifier: MIT
#include "broker/filter/compiled_rule.hpp"

#include <algorithm>
#include <compare>
#include <utility>

#include "broker/filter/limits.hpp"
#include "core/ascii_case.hpp"
#include "core/id_check.hpp"

namespace sessionq::broker::filter {
namespace {

constexpr std::size_t longest_name = 50;
constexpr const char* rule_name_property = "RuleName";
constexpr std::pair<std::optional<std::string> CorrelationFilter::*, TextField>
    correlation_texts[] = {
        {&CorrelationFilter::content_type, TextField::content_type},
        {&CorrelationFilter::correlation_id, TextField::correlation_id},
        {&CorrelationFilter::message_id, TextField::message_id},
        {&CorrelationFilter::reply_to, TextField::reply_to},
        {&CorrelationFilter::subject, TextField::subject},
        {&CorrelationFilter::reply_to_session_id, TextField::reply_to_session_id},
        {&CorrelationFilter::session_id, TextField::session_id},
        {&CorrelationFilter::to, TextField::to},
};

// Of a message, and of its outline.
std::uint64_t copying_steps(std::size_t properties, std::size_t bytes) noexcept {
    constexpr std::uint64_t steps_a_property = 128;
    return properties * steps_a_property + bytes / Work::text_bytes_a_step;
}

bool matches(const CorrelationFilter& filter, const Message& message, Work& work) {
    work.add(std::size(correlation_texts) * Work::steps_a_node);
    const bool texts_match = std::ranges::all_of(correlation_texts, [&](const auto& text) {
        const std::optional<std::string>& wanted = filter.*text.first;
        return !wanted || text_of(message, text.second).value_or(std::string_view{}) == *wanted;
    });
    return texts_match && std::ranges::all_of(filter.properties, [&](const auto& wanted) {
               work.add(Work::steps_a_node);
               work.add_lookup(message.properties.size());
               const auto found = find_property(message.properties, wanted.first);
               const auto order = found == message.properties.end()
                                      ? std::nullopt
                                      : compare(found->second, wanted.second);
               return order && std::is_eq(*order);
           });
}

std::optional<std::string> find_fault(const CorrelationFilter& filter) {
    if (filter.properties.size() > most_correlation_properties) {
        return "a correlation filter may have at most " +
               std::to_string(most_correlation_properties) + " properties; it has " +
               std::to_string(filter.properties.size());
    }
    const auto is_too_long = [](const std::string& text) {
        return text.size() > longest_correlation_text;
    };
    const bool any_too_long = std::ranges::any_of(correlation_texts,
                                                  [&](const auto& text) {
                                                      const std::optional<std::string>& held =
                                                          filter.*text.first;
                                                      return held && is_too_long(*held);
                                                  }) ||
                              std::ranges::any_of(filter.properties, [&](const auto& property) {
                                  return is_too_long(property.first) ||
                                         length_of(property.second) > longest_correlation_text;
                              });
    return any_too_long ? std::optional{"a text of a correlation filter may have at most " +
                                        std::to_string(longest_correlation_text) + " bytes"}
                        : std::nullopt;
}

/// Applies statements to an outline and collects the changes. Each statement sees the effect of
/// those before it.
class ActionRun {
public:
    ActionRun(Message outline, Work& work) : outline_{std::move(outline)}, work_{work} {}

    void run(const Statement& statement) {
        Value value =
            statement.expression ? evaluate(*statement.expression, outline_, work_) : Value{};
        if (statement.property.system) {
            auto text = shown_text(value); // nothing removes it
            set_text(outline_, *statement.property.system, text);
            changes_.texts.emplace_back(*statement.property.system, std::move(text));
        } else if (statement.expression) {
            set(statement.property.name, std::move(value));
        } else {
            remove(statement.property.name);
        }
    }

    void set(const std::string& name, Value value) {
        work_.add_lookup(outline_.properties.size());
        const auto found = find_property(outline_.properties, name);
        const std::string key = found == outline_.properties.end()
                                    ? name
                                    : found->first; // keep the message's own spelling
        outline_.properties.insert_or_assign(key, value);
        changes_.properties.insert_or_assign(key, std::move(value));
    }

    [[nodiscard]] const ContentChanges& changes() const noexcept { return changes_; }

private:
    void remove(const std::string& name) {
        work_.add_lookup(outline_.properties.size());
        for (auto at = outline_.properties.begin(); at != outline_.properties.end();) {
            if (!core::equal_ignoring_case(at->first, name)) {
                ++at;
                continue;
            }
            changes_.removed.push_back(at->first);
            changes_.properties.erase(at->first);
            at = outline_.properties.erase(at);
        }
    }

    Message outline_;
    Work& work_;
    ContentChanges changes_{};
};

} // namespace

core::Result<CompiledRule> CompiledRule::make(Rule rule) {
    const auto fail = [name = rule.name.substr(0, 2 * longest_name)](const std::string& about) {
        return Failure{.code = Errc::invalid_argument, .detail = "rule '" + name + "': " + about};
    };
    if (rule.name.empty() || core::characters(rule.name) > longest_name) {
        return fail("the name must have 1 to " + std::to_string(longest_name) + " characters");
    }
    CompiledRule made{std::move(rule)};
    if (const auto* filter = std::get_if<SqlFilter>(&made.rule_.filter)) {
        auto condition = parse_condition(filter->expression);
        if (!condition) {
            return fail("filter: " + condition.failure().detail);
        }
        made.condition_ = std::move(condition).value();
        made.cost_.add(*made.condition_);
    } else if (const auto* correlation = std::get_if<CorrelationFilter>(&made.rule_.filter)) {
        if (const auto fault = find_fault(*correlation)) {
            return fail("filter: " + *fault);
        }
        made.cost_.add_nodes(std::size(correlation_texts) + correlation->properties.size());
    }
    if (!made.rule_.action.empty()) {
        auto statements = parse_action(made.rule_.action);
        if (!statements) {
            return fail("action: " + statements.failure().detail);
        }
        made.statements_ = std::move(statements).value();
        made.cost_.add_nodes(made.statements_.size() + 1); // the last one sets RuleName
        for (const Statement& statement : made.statements_) {
            if (statement.expression) {
                made.cost_.add(*statement.expression);
            }
        }
    }
    return made;
}

bool CompiledRule::reads_messages() const noexcept {
    return !std::holds_alternative<TrueFilter>(rule_.filter) &&
           !std::holds_alternative<FalseFilter>(rule_.filter);
}

std::uint64_t CompiledRule::most_steps(const Extent& extent, std::size_t content_bytes) const {
    const std::uint64_t steps = cost_.most_steps(extent);
    return has_action() ? steps + copying_steps(extent.properties, content_bytes) : steps;
}

bool CompiledRule::matches(const Message& message, Work& work) const {
    if (condition_) {
        return evaluate(*condition_, message, work) == Value{true};
    }
    if (const auto* filter = std::get_if<CorrelationFilter>(&rule_.filter)) {
        return filter::matches(*filter, message, work);
    }
    return std::holds_alternative<TrueFilter>(rule_.filter);
}

MessageContentPtr CompiledRule::apply(const MessageContent& content, Message outline,
                                      Work& work) const {
    work.add(copying_steps(outline.properties.size(), content.bytes()));
    ActionRun action{std::move(outline), work};
    for (const Statement& statement : statements_) {
        action.run(statement);
    }
    action.set(rule_name_property, rule_.name);
    return content.with_changes(action.changes());
}

} // namespace sessionq::broker::filter
