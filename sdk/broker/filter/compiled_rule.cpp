#include "broker/filter/compiled_rule.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <compare>
#include <utility>

#include "core/id_length.hpp"

namespace sessionq::broker::filter {
namespace {

constexpr std::size_t longest_name = 50;
constexpr const char* rule_name_property = "RuleName";

bool matches(const CorrelationFilter& filter, const Message& message) {
    const std::pair<const std::optional<std::string>&, TextField> texts[] = {
        {filter.content_type, TextField::content_type},
        {filter.correlation_id, TextField::correlation_id},
        {filter.message_id, TextField::message_id},
        {filter.reply_to, TextField::reply_to},
        {filter.subject, TextField::subject},
        {filter.reply_to_session_id, TextField::reply_to_session_id},
        {filter.session_id, TextField::session_id},
        {filter.to, TextField::to},
    };
    const bool texts_match = std::ranges::all_of(texts, [&](const auto& wanted) {
        return !wanted.first ||
               text_of(message, wanted.second).value_or(std::string_view{}) == *wanted.first;
    });
    return texts_match && std::ranges::all_of(filter.properties, [&](const auto& wanted) {
               const auto found = find_property(message.properties, wanted.first);
               const auto order = found == message.properties.end()
                                      ? std::nullopt
                                      : compare(found->second, wanted.second);
               return order && std::is_eq(*order);
           });
}

// The new text of one of the message's own properties; nothing removes it.
std::optional<std::string> to_text(const Value& value) {
    if (const auto* text = std::get_if<std::string>(&value)) {
        return *text;
    }
    if (const auto* truth = std::get_if<bool>(&value)) {
        return *truth ? "True" : "False";
    }
    std::array<char, 32> digits{};
    const auto write = [&](auto number) {
        return std::string{digits.data(),
                           std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr};
    };
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
        return write(*number);
    }
    if (const auto* number = std::get_if<std::uint64_t>(&value)) {
        return write(*number);
    }
    if (const auto* number = std::get_if<double>(&value)) {
        return write(*number);
    }
    return std::nullopt;
}

/// Applies statements to an outline and collects the changes. Each statement sees the effect of
/// those before it.
class ActionRun {
public:
    explicit ActionRun(Message outline) : outline_{std::move(outline)} {}

    void run(const Statement& statement) {
        Value value = statement.expression ? evaluate(*statement.expression, outline_) : Value{};
        if (statement.property.system) {
            auto text = to_text(value);
            set_text(outline_, *statement.property.system, text);
            changes_.texts.emplace_back(*statement.property.system, std::move(text));
        } else if (statement.expression) {
            set(statement.property.name, std::move(value));
        } else {
            remove(statement.property.name);
        }
    }

    void set(const std::string& name, Value value) {
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
        for (auto found = find_property(outline_.properties, name);
             found != outline_.properties.end(); found = find_property(outline_.properties, name)) {
            changes_.removed.push_back(found->first);
            changes_.properties.erase(found->first);
            outline_.properties.erase(found);
        }
    }

    Message outline_;
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
    }
    if (!made.rule_.action.empty()) {
        auto statements = parse_action(made.rule_.action);
        if (!statements) {
            return fail("action: " + statements.failure().detail);
        }
        made.statements_ = std::move(statements).value();
    }
    return made;
}

bool CompiledRule::reads_messages() const noexcept {
    return !std::holds_alternative<TrueFilter>(rule_.filter) &&
           !std::holds_alternative<FalseFilter>(rule_.filter);
}

bool CompiledRule::matches(const Message& message) const {
    if (condition_) {
        return evaluate(*condition_, message) == Value{true};
    }
    if (const auto* filter = std::get_if<CorrelationFilter>(&rule_.filter)) {
        return filter::matches(*filter, message);
    }
    return std::holds_alternative<TrueFilter>(rule_.filter);
}

MessageContentPtr CompiledRule::apply(const MessageContent& content, Message outline) const {
    ActionRun action{std::move(outline)};
    for (const Statement& statement : statements_) {
        action.run(statement);
    }
    action.set(rule_name_property, rule_.name);
    return content.with_changes(action.changes());
}

} // namespace sessionq::broker::filter
