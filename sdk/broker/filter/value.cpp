// SPDX-License-Identifier: MIT
#include "broker/filter/value.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <variant>

#include "broker/filter/limits.hpp"

namespace sessionq::broker::filter {
namespace {

template <typename T>
constexpr bool is_number = std::is_same_v<T, std::int64_t> || std::is_same_v<T, std::uint64_t> ||
                           std::is_same_v<T, double>;

struct Comparison {
    using Answer = std::optional<std::partial_ordering>;

    template <typename Left, typename Right>
    Answer operator()(const Left& left, const Right& right) const noexcept {
        if constexpr (is_number<Left> && is_number<Right>) {
            return numbers(left, right);
        } else if constexpr (!std::is_same_v<Left, Right> || std::is_same_v<Left, std::monostate>) {
            return std::nullopt;
        } else if constexpr (std::is_same_v<Left, bool>) {
            return left == right ? std::partial_ordering::equivalent
                                 : std::partial_ordering::unordered;
        } else if constexpr (std::is_same_v<Left, std::string>) {
            return left.compare(right) <=> 0;
        } else {
            return left <=> right;
        }
    }

private:
    template <typename Left, typename Right>
    static std::partial_ordering numbers(Left left, Right right) noexcept {
        if constexpr (std::is_same_v<Left, double> || std::is_same_v<Right, double>) {
            return static_cast<double>(left) <=> static_cast<double>(right);
        } else if constexpr (std::is_same_v<Left, Right>) {
            return left <=> right;
        } else if constexpr (std::is_same_v<Left, std::int64_t>) {
            return left < 0 ? std::strong_ordering::less
                            : static_cast<std::uint64_t>(left) <=> right;
        } else {
            return right < 0 ? std::strong_ordering::greater
                             : left <=> static_cast<std::uint64_t>(right);
        }
    }
};

std::optional<double> as_double(const Value& value) noexcept {
    return std::visit(
        [](const auto& held) -> std::optional<double> {
            if constexpr (is_number<std::remove_cvref_t<decltype(held)>>) {
                return static_cast<double>(held);
            } else {
                return std::nullopt;
            }
        },
        value);
}

std::optional<std::int64_t> as_whole(const Value& value) noexcept {
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
        return *number;
    }
    const auto* number = std::get_if<std::uint64_t>(&value);
    const bool fits = number != nullptr && *number <= static_cast<std::uint64_t>(
                                                          std::numeric_limits<std::int64_t>::max());
    return fits ? std::optional{static_cast<std::int64_t>(*number)} : std::nullopt;
}

Value whole(char operation, std::int64_t left, std::int64_t right) noexcept {
    std::int64_t result = 0;
    const auto unless = [&](bool overflow) { return overflow ? Value{} : Value{result}; };
    switch (operation) {
    case '+': return unless(__builtin_add_overflow(left, right, &result));
    case '-': return unless(__builtin_sub_overflow(left, right, &result));
    case '*': return unless(__builtin_mul_overflow(left, right, &result));
    default: break;
    }
    if (right == 0 || (right == -1 && left == std::numeric_limits<std::int64_t>::min())) {
        return {};
    }
    return operation == '/' ? left / right : left % right;
}

Value floating(char operation, double left, double right) noexcept {
    switch (operation) {
    case '+': return left + right;
    case '-': return left - right;
    case '*': return left * right;
    case '/': return left / right;
    default: return std::fmod(left, right);
    }
}

} // namespace

std::optional<std::partial_ordering> compare(const Value& left, const Value& right) noexcept {
    return std::visit(Comparison{}, left, right);
}

Value calculate(char operation, const Value& left, const Value& right) {
    const auto* left_text = std::get_if<std::string>(&left);
    const auto* right_text = std::get_if<std::string>(&right);
    if (operation == '+' && left_text != nullptr && right_text != nullptr) {
        return left_text->size() + right_text->size() <= longest_joined_text
                   ? Value{*left_text + *right_text}
                   : Value{};
    }
    const auto left_whole = as_whole(left);
    const auto right_whole = as_whole(right);
    if (left_whole && right_whole) {
        return whole(operation, *left_whole, *right_whole);
    }
    const auto left_number = as_double(left);
    const auto right_number = as_double(right);
    return left_number && right_number ? floating(operation, *left_number, *right_number) : Value{};
}

} // namespace sessionq::broker::filter
