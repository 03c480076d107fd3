#include "broker/filter/sql_tree.hpp"

#include <compare>

#include "broker/filter/like.hpp"
#include "core/uuid.hpp"

namespace sessionq::broker::filter {
namespace {

Value compared(Operation operation, const Value& left, const Value& right) {
    const auto order = compare(left, right);
    const bool asks_for_order = operation != Operation::equal && operation != Operation::not_equal;
    if (!order || (asks_for_order && *order == std::partial_ordering::unordered)) {
        return {};
    }
    switch (operation) {
    case Operation::equal: return std::is_eq(*order);
    case Operation::not_equal: return std::is_neq(*order);
    case Operation::less: return std::is_lt(*order);
    case Operation::less_equal: return std::is_lteq(*order);
    case Operation::greater: return std::is_gt(*order);
    default: return std::is_gteq(*order);
    }
}

// Every value except true and false is unknown, even a text.
std::optional<bool> truth_of(const Node& node, const Message& message) {
    const Value value = evaluate(node, message);
    const auto* truth = std::get_if<bool>(&value);
    return truth != nullptr ? std::optional{*truth} : std::nullopt;
}

// AND if `deciding` is false, OR if it is true.
Value combined(const Node& node, const Message& message, bool deciding) {
    bool all_known = true;
    for (const NodePtr& operand : node.operands) {
        const auto truth = truth_of(*operand, message);
        if (truth == deciding) {
            return deciding;
        }
        all_known = all_known && truth.has_value();
    }
    return all_known ? Value{!deciding} : Value{};
}

Value is_in(const Node& node, const Message& message) {
    const Value wanted = evaluate(*node.operands.front(), message);
    bool all_known = !is_unknown(wanted);
    for (std::size_t i = 1; i < node.operands.size() && !is_unknown(wanted); ++i) {
        const auto order = compare(wanted, evaluate(*node.operands[i], message));
        if (order && std::is_eq(*order)) {
            return true;
        }
        all_known = all_known && order;
    }
    return all_known ? Value{false} : Value{};
}

Value is_like(const Node& node, const Message& message) {
    const Value text = evaluate(*node.operands[0], message);
    const Value pattern = evaluate(*node.operands[1], message);
    const auto* held = std::get_if<std::string>(&text);
    const auto* like = std::get_if<std::string>(&pattern);
    if (held == nullptr || like == nullptr) {
        return {};
    }
    if (node.operands.size() == 2) {
        return filter::is_like(*held, *like, std::nullopt);
    }
    const Value escape = evaluate(*node.operands[2], message);
    const auto* escaping = std::get_if<std::string>(&escape);
    const auto character = escaping != nullptr ? single_character(*escaping) : std::nullopt;
    return character ? Value{filter::is_like(*held, *like, character)} : Value{};
}

char sign_of(Operation operation) noexcept {
    switch (operation) {
    case Operation::add:
    case Operation::plus: return '+';
    case Operation::subtract:
    case Operation::minus: return '-';
    case Operation::multiply: return '*';
    case Operation::divide: return '/';
    default: return '%';
    }
}

} // namespace

Value evaluate(const Node& node, const Message& message) {
    const auto operand = [&](std::size_t i) { return evaluate(*node.operands[i], message); };
    switch (node.operation) {
    case Operation::constant: return node.value;
    case Operation::property: return value_of(message, node.property);
    case Operation::property_by_name: {
        const Value name = operand(0);
        const auto* text = std::get_if<std::string>(&name);
        return text != nullptr ? value_of(message, {.name = *text}) : Value{};
    }
    case Operation::new_id: return core::Uuid::make().to_string();
    case Operation::plus:
    case Operation::minus:
        return calculate(sign_of(node.operation), Value{std::int64_t{0}}, operand(0));
    case Operation::add:
    case Operation::subtract:
    case Operation::multiply:
    case Operation::divide:
    case Operation::modulo: return calculate(sign_of(node.operation), operand(0), operand(1));
    case Operation::is_in: return is_in(node, message);
    case Operation::like: return is_like(node, message);
    case Operation::is_null: return is_unknown(value_of(message, node.property));
    case Operation::exists: return has(message, node.property);
    case Operation::logical_and: return combined(node, message, false);
    case Operation::logical_or: return combined(node, message, true);
    case Operation::logical_not: {
        const auto truth = truth_of(*node.operands.front(), message);
        return truth ? Value{!*truth} : Value{};
    }
    default: return compared(node.operation, operand(0), operand(1));
    }
}

} // namespace sessionq::broker::filter
