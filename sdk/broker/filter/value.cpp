// SPDX-License-Identifier: MIT
#include "broker/filter/value.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "broker/filter/limits.hpp"
#include "core/decimal_parts.hpp"
#include "core/rfc3339.hpp"
#include "core/utf8.hpp"

namespace sessionq::broker::filter {
namespace {

using Answer = std::optional<std::partial_ordering>;

template <typename T>
constexpr bool is_integer = std::is_same_v<T, std::int64_t> || std::is_same_v<T, std::uint64_t>;
template <typename T>
constexpr bool is_number = is_integer<T> || std::is_same_v<T, double> || std::is_same_v<T, Decimal>;
template <typename T>
constexpr bool is_instant =
    std::is_same_v<T, WallTime> || std::is_same_v<T, FarTime> || std::is_same_v<T, DateTimeOffset>;

double to_double(double number) noexcept { return number; }
double to_double(const Decimal& number) { return number.to_double(); }
template <typename Integer>
double to_double(Integer number) noexcept {
    return static_cast<double>(number);
}

core::DecimalParts parts_of(const Decimal& number) noexcept {
    return core::DecimalParts::of(number);
}
template <typename Integer>
core::DecimalParts parts_of(Integer number) noexcept {
    return core::DecimalParts::of_integer(number);
}

/// An instant as whole seconds since 1970 and the rest of a second in units of 100 ns, which covers
/// all that the types of instants can say.
using SplitInstant = std::pair<std::int64_t, std::int64_t>;

template <typename Length>
SplitInstant split(Length since) noexcept {
    constexpr std::int64_t a_second = Length::period::den;
    const std::int64_t rest = since.count() % a_second;
    const std::int64_t part = rest < 0 ? rest + a_second : rest;
    return {since.count() / a_second - (rest < 0 ? 1 : 0), part * TimeSpan::period::den / a_second};
}
SplitInstant instant_of(WallTime time) noexcept { return split(time.time_since_epoch()); }
SplitInstant instant_of(FarTime time) noexcept { return split(time.since); }
SplitInstant instant_of(const DateTimeOffset& time) noexcept {
    constexpr std::int64_t year_one_to_epoch = 62'135'596'800;
    SplitInstant since = split(time.since);
    since.first -= year_one_to_epoch;
    return since;
}

struct Comparison {
    template <typename Left, typename Right>
    Answer operator()(const Left& left, const Right& right) const {
        if constexpr (is_number<Left> && is_number<Right>) {
            return numbers(left, right);
        } else if constexpr (is_instant<Left> && is_instant<Right>) {
            return instant_of(left) <=> instant_of(right);
        } else if constexpr (!std::is_same_v<Left, Right> || std::is_same_v<Left, std::monostate>) {
            return std::nullopt;
        } else if constexpr (std::is_same_v<Left, bool> || std::is_same_v<Left, EncodedValue>) {
            return left == right ? std::partial_ordering::equivalent
                                 : std::partial_ordering::unordered;
        } else if constexpr (std::is_same_v<Left, std::string>) {
            return left.compare(right) <=> 0;
        } else if constexpr (std::is_same_v<Left, Uri>) {
            return left.text.compare(right.text) <=> 0;
        } else {
            return left <=> right;
        }
    }

private:
    template <typename Left, typename Right>
    static std::partial_ordering numbers(const Left& left, const Right& right) {
        if constexpr (std::is_same_v<Left, double> || std::is_same_v<Right, double>) {
            return to_double(left) <=> to_double(right);
        } else if constexpr (std::is_same_v<Left, Decimal> || std::is_same_v<Right, Decimal>) {
            return core::compare(parts_of(left), parts_of(right));
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

/// Compares a UUID with a text in any case. Texts that are not UUIDs compare as texts.
Answer compare_texts(const Value& left, const Value& right) {
    for (const auto& [uuid, other] : {std::pair{&left, &right}, std::pair{&right, &left}}) {
        const auto* held = std::get_if<Uuid>(uuid);
        const auto* text = std::get_if<std::string>(other);
        if (held != nullptr && text != nullptr && Uuid::parse(*text) == *held) {
            return std::partial_ordering::equivalent;
        }
    }
    const auto left_text = text_of(left);
    const auto right_text = text_of(right);
    return left_text && right_text ? Answer{left_text->compare(*right_text) <=> 0} : std::nullopt;
}

std::optional<double> as_double(const Value& value) {
    return std::visit(
        [](const auto& held) -> std::optional<double> {
            if constexpr (is_number<std::remove_cvref_t<decltype(held)>>) {
                return to_double(held);
            } else {
                return std::nullopt;
            }
        },
        value);
}

/// An integer or a decimal.
std::optional<core::DecimalParts> as_decimal(const Value& value) noexcept {
    return std::visit(
        [](const auto& held) -> std::optional<core::DecimalParts> {
            using Held = std::remove_cvref_t<decltype(held)>;
            if constexpr (is_integer<Held> || std::is_same_v<Held, Decimal>) {
                return parts_of(held);
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

/// Calculates with decimals. Nothing if none is involved, or if none can hold the result.
std::optional<Value> decimal(char operation, const Value& left, const Value& right) noexcept {
    const bool any =
        std::holds_alternative<Decimal>(left) || std::holds_alternative<Decimal>(right);
    const auto left_parts = any ? as_decimal(left) : std::nullopt;
    const auto right_parts = any ? as_decimal(right) : std::nullopt;
    if (!left_parts || !right_parts) {
        return std::nullopt;
    }
    const bool divides = operation == '/' || operation == '%';
    if (divides && std::is_eq(core::compare(*right_parts, {}))) {
        return Value{};
    }
    const auto result = core::calculate(operation, *left_parts, *right_parts);
    const auto made = result ? result->to_decimal() : std::nullopt;
    return made ? std::optional{Value{*made}} : std::nullopt;
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

template <typename Number>
std::string digits_of(Number number) {
    std::array<char, 32> digits{};
    return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr};
}

} // namespace

std::optional<std::string> text_of(const Value& value) {
    if (const auto* text = std::get_if<std::string>(&value)) {
        return *text;
    }
    if (const auto* character = std::get_if<char32_t>(&value)) {
        return core::utf8_of(*character);
    }
    if (const auto* uuid = std::get_if<Uuid>(&value)) {
        return uuid->to_string();
    }
    const auto* uri = std::get_if<Uri>(&value);
    return uri != nullptr ? std::optional{uri->text} : std::nullopt;
}

std::optional<std::string> shown_text(const Value& value) {
    return std::visit(
        [&value](const auto& held) -> std::optional<std::string> {
            using Held = std::remove_cvref_t<decltype(held)>;
            if constexpr (std::is_same_v<Held, bool>) {
                return held ? "True" : "False";
            } else if constexpr (is_integer<Held> || std::is_same_v<Held, double>) {
                return digits_of(held);
            } else if constexpr (std::is_same_v<Held, Decimal>) {
                return held.to_string();
            } else if constexpr (std::is_same_v<Held, WallTime>) {
                return core::rfc3339(held);
            } else {
                return text_of(value);
            }
        },
        value);
}

std::optional<std::partial_ordering> compare(const Value& left, const Value& right) {
    const auto order = std::visit(Comparison{}, left, right);
    return order || left.index() == right.index() ? order : compare_texts(left, right);
}

Value calculate(char operation, const Value& left, const Value& right) {
    const auto left_whole = as_whole(left);
    const auto right_whole = as_whole(right);
    if (left_whole && right_whole) {
        return whole(operation, *left_whole, *right_whole);
    }
    if (auto result = decimal(operation, left, right)) {
        return *std::move(result);
    }
    const auto left_number = as_double(left);
    const auto right_number = as_double(right);
    if (left_number && right_number) {
        return floating(operation, *left_number, *right_number);
    }
    const auto left_text = operation == '+' ? text_of(left) : std::nullopt;
    const auto right_text = left_text ? text_of(right) : std::nullopt;
    return right_text && left_text->size() + right_text->size() <= longest_joined_text
               ? Value{*left_text + *right_text}
               : Value{};
}

} // namespace sessionq::broker::filter
