// SPDX-License-Identifier: MIT
#include "broker/filter/sql_tree.hpp"

#include <compare>

#include "broker/filter/cost.hpp"
#include "broker/filter/like.hpp"
#include "broker/filter/limits.hpp"
#include "core/uuid.hpp"

namespace sessionq::broker::filter {
namespace {

Value read(const Message& message, const PropertyName& name, Work& work) {
    Value value = value_of(message, name);
    work.add_lookup(message.properties.size());
    work.add_text(2 * length_of(value)); // it is copied, and then used
    return value;
}

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
std::optional<bool> truth_of(const Node& node, const Message& message, Work& work) {
    const Value value = evaluate(node, message, work);
    const auto* truth = std::get_if<bool>(&value);
    return truth != nullptr ? std::optional{*truth} : std::nullopt;
}

// AND if `deciding` is false, OR if it is true.
Value combined(const Node& node, const Message& message, bool deciding, Work& work) {
    bool all_known = true;
    for (const NodePtr& operand : node.operands) {
        const auto truth = truth_of(*operand, message, work);
        if (truth == deciding) {
            return deciding;
        }
        all_known = all_known && truth.has_value();
    }
    return all_known ? Value{!deciding} : Value{};
}

Value is_in(const Node& node, const Message& message, Work& work) {
    const Value wanted = evaluate(*node.operands.front(), message, work);
    bool all_known = !is_unknown(wanted);
    for (std::size_t i = 1; i < node.operands.size() && !is_unknown(wanted); ++i) {
        const auto order = compare(wanted, evaluate(*node.operands[i], message, work));
        if (order && std::is_eq(*order)) {
            return true;
        }
        all_known = all_known && order;
    }
    return all_known ? Value{false} : Value{};
}

Value is_like(const Node& node, const Message& message, Work& work) {
    const Value text = evaluate(*node.operands[0], message, work);
    const Value pattern = evaluate(*node.operands[1], message, work);
    const auto held = text_of(text);
    const auto* like = std::get_if<std::string>(&pattern);
    if (!held || like == nullptr || like->size() > longest_pattern) {
        return {};
    }
    if (node.operands.size() == 2) {
        return filter::is_like(*held, *like, std::nullopt, work);
    }
    const Value escape = evaluate(*node.operands[2], message, work);
    const auto* escaping = std::get_if<std::string>(&escape);
    const auto character = escaping != nullptr ? single_character(*escaping) : std::nullopt;
    return character ? Value{filter::is_like(*held, *like, character, work)} : Value{};
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

Value evaluate(const Node& node, const Message& message, Work& work) {
    work.add(Work::steps_a_node);
    const auto operand = [&](std::size_t i) { return evaluate(*node.operands[i], message, work); };
    switch (node.operation) {
    case Operation::constant: return node.value;
    case Operation::property: return read(message, node.property, work);
    case Operation::property_by_name: {
        const Value name = operand(0);
        const auto* text = std::get_if<std::string>(&name);
        return text != nullptr ? read(message, {.name = *text}, work) : Value{};
    }
    case Operation::new_id: return Uuid{core::Uuid::make().bytes};
    case Operation::plus:
    case Operation::minus:
        return calculate(sign_of(node.operation), Value{std::int64_t{0}}, operand(0));
    case Operation::add:
    case Operation::subtract:
    case Operation::multiply:
    case Operation::divide:
    case Operation::modulo: return calculate(sign_of(node.operation), operand(0), operand(1));
    case Operation::is_in: return is_in(node, message, work);
    case Operation::like: return is_like(node, message, work);
    case Operation::is_null: return is_unknown(read(message, node.property, work));
    case Operation::exists:
        work.add_lookup(message.properties.size());
        return has(message, node.property);
    case Operation::logical_and: return combined(node, message, false, work);
    case Operation::logical_or: return combined(node, message, true, work);
    case Operation::logical_not: {
        const auto truth = truth_of(*node.operands.front(), message, work);
        return truth ? Value{!*truth} : Value{};
    }
    default: return compared(node.operation, operand(0), operand(1));
    }
}

} // namespace sessionq::broker::filter
