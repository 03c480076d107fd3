// SPDX-License-Identifier: MIT
#include <sessionq/decimal.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <utility>

#include "core/decimal_parts.hpp"

namespace sessionq::inline v1 {
namespace {

using core::DecimalParts;
using core::Uint128;
using Kind = DecimalParts::Kind;

/// The binary integer form of a width: sign, exponent, coefficient.
struct Layout {
    int bits;
    int exponent_bits;
    int coefficient_bits;
    int bias;
    int digits;

    [[nodiscard]] constexpr int highest_exponent() const noexcept {
        return 3 * (1 << (exponent_bits - 2)) - 1 - bias;
    }
};

constexpr Layout layouts[] = {{32, 8, 23, 101, 7}, {64, 10, 53, 398, 16}, {128, 14, 113, 6176, 34}};

const Layout& layout_of(Decimal::Width width) noexcept {
    return layouts[static_cast<std::size_t>(width)];
}

constexpr Uint128 mask(int bits) noexcept { return (Uint128{1} << bits) - 1; }

constexpr int most_digits = 38; // that Uint128 holds in any case

constexpr std::array<Uint128, most_digits + 1> powers = [] {
    std::array<Uint128, most_digits + 1> made{1};
    for (std::size_t i = 1; i < made.size(); ++i) {
        made[i] = made[i - 1] * 10;
    }
    return made;
}();

Uint128 power_of_ten(int exponent) noexcept { return powers[static_cast<std::size_t>(exponent)]; }

int digits_of(Uint128 number) noexcept {
    return static_cast<int>(std::ranges::upper_bound(powers, number) - powers.begin());
}

std::string text_of(Uint128 number) {
    std::string text;
    do {
        text += static_cast<char>('0' + static_cast<int>(number % 10));
        number /= 10;
    } while (number != 0);
    std::ranges::reverse(text);
    return text;
}

/// The exponent that Azure's client for .NET meant. It puts the upper bits of a decimal128's
/// exponent in the wrong place (`exponent >> 9` for `>> 7`), and reads only the lower ones. Its
/// numbers have up to 28 decimal places and 96 bits. As the standard has them they would all be
/// smaller than 10^-4500.
int exponent_meant(const Layout& layout, int encoded, Uint128 coefficient) noexcept {
    constexpr int dotnet_zero = (6176 >> 9) << 7 | (6176 & 0x7f);
    constexpr int most_places = 28;
    const bool is_dotnet = layout.bits == 128 && encoded <= dotnet_zero &&
                           encoded >= dotnet_zero - most_places && coefficient <= mask(96);
    return encoded - (is_dotnet ? dotnet_zero : layout.bias);
}

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// Reads a number up to its exponent's letter.
std::optional<DecimalParts> read_digits(std::string_view& text) noexcept {
    DecimalParts parts;
    bool has_digits = false;
    bool has_point = false;
    std::size_t at = 0;
    for (; at < text.size() && (is_digit(text[at]) || (text[at] == '.' && !has_point)); ++at) {
        if (text[at] == '.') {
            has_point = true;
            continue;
        }
        has_digits = true;
        if (parts.coefficient >= power_of_ten(most_digits - 1)) {
            return std::nullopt;
        }
        parts.coefficient = parts.coefficient * 10 + static_cast<unsigned>(text[at] - '0');
        parts.exponent -= has_point ? 1 : 0;
        if (parts.exponent < -10'000) {
            return std::nullopt;
        }
    }
    text.remove_prefix(at);
    return has_digits ? std::optional{parts} : std::nullopt;
}

/// Brings two finite numbers to one exponent. Returns false if that takes too many digits.
bool align(DecimalParts& left, DecimalParts& right) noexcept {
    DecimalParts& higher = left.exponent > right.exponent ? left : right;
    const int by = higher.exponent - (left.exponent > right.exponent ? right : left).exponent;
    if (higher.coefficient != 0) {
        if (by > most_digits - digits_of(higher.coefficient)) {
            return false;
        }
        higher.coefficient *= power_of_ten(by);
    }
    higher.exponent -= by;
    return true;
}

DecimalParts sum(const DecimalParts& left, const DecimalParts& right) noexcept {
    if (left.is_negative == right.is_negative) {
        DecimalParts made = left;
        made.coefficient += right.coefficient;
        return made;
    }
    DecimalParts made = left.coefficient >= right.coefficient ? left : right;
    made.coefficient -= std::min(left.coefficient, right.coefficient);
    return made;
}

DecimalParts quotient(const DecimalParts& left, const DecimalParts& right) noexcept {
    constexpr int most = 28;
    DecimalParts made{.is_negative = left.is_negative != right.is_negative,
                      .exponent = left.exponent - right.exponent,
                      .coefficient = left.coefficient / right.coefficient};
    for (Uint128 rest = left.coefficient % right.coefficient;
         rest != 0 && digits_of(made.coefficient) < most && digits_of(rest) < most_digits;
         rest = rest % right.coefficient) {
        rest *= 10;
        made.coefficient = made.coefficient * 10 + rest / right.coefficient;
        --made.exponent;
    }
    return made;
}

} // namespace

} // namespace sessionq::inline v1

namespace sessionq::core {

DecimalParts DecimalParts::of(const Decimal& decimal) noexcept {
    const Layout& layout = layout_of(decimal.width());
    Uint128 bits = 0;
    for (const std::byte each : decimal.bytes()) {
        bits = bits << 8 | std::to_integer<unsigned>(each);
    }
    DecimalParts parts{.is_negative = (bits >> (layout.bits - 1) & 1) != 0};
    const auto leading = static_cast<unsigned>(bits >> (layout.bits - 6) & 0x1f);
    if (leading >= 0x1e) {
        parts.kind = leading == 0x1e ? Kind::infinite : Kind::not_a_number;
        return parts;
    }
    const bool is_large = leading >= 0x18; // the coefficient begins with 100
    const int shift = is_large ? layout.coefficient_bits - 2 : layout.coefficient_bits;
    parts.coefficient =
        (bits & mask(shift)) | (is_large ? Uint128{1} << layout.coefficient_bits : Uint128{0});
    const int encoded = static_cast<int>(bits >> shift & mask(layout.exponent_bits));
    parts.exponent = exponent_meant(layout, encoded, parts.coefficient);
    if (parts.coefficient >= power_of_ten(layout.digits)) {
        parts.coefficient = 0; // as the standard reads it
    }
    return parts;
}

std::optional<Decimal> DecimalParts::to_decimal(Decimal::Width width) const noexcept {
    const Layout& layout = layout_of(width);
    DecimalParts parts = *this;
    while (parts.coefficient >= power_of_ten(layout.digits) && parts.coefficient % 10 == 0) {
        parts.coefficient /= 10;
        ++parts.exponent;
    }
    while (parts.exponent < -layout.bias && parts.coefficient % 10 == 0 && parts.coefficient != 0) {
        parts.coefficient /= 10;
        ++parts.exponent;
    }
    while (parts.exponent > layout.highest_exponent() && parts.coefficient != 0 &&
           parts.coefficient < power_of_ten(layout.digits - 1)) {
        parts.coefficient *= 10;
        --parts.exponent;
    }
    if (parts.coefficient == 0) {
        parts.exponent = std::clamp(parts.exponent, -layout.bias, layout.highest_exponent());
    }
    if (parts.coefficient >= power_of_ten(layout.digits) || parts.exponent < -layout.bias ||
        parts.exponent > layout.highest_exponent()) {
        return std::nullopt;
    }
    Uint128 bits = parts.is_negative ? Uint128{1} << (layout.bits - 1) : Uint128{0};
    if (kind != Kind::finite) {
        bits |= Uint128{kind == Kind::infinite ? 0x1eU : 0x1fU} << (layout.bits - 6);
    } else if (const auto encoded = static_cast<unsigned>(parts.exponent + layout.bias);
               parts.coefficient > mask(layout.coefficient_bits)) {
        bits |= Uint128{3} << (layout.bits - 3) |
                Uint128{encoded} << (layout.coefficient_bits - 2) |
                (parts.coefficient & mask(layout.coefficient_bits - 2));
    } else {
        bits |= Uint128{encoded} << layout.coefficient_bits | parts.coefficient;
    }
    std::array<std::byte, 16> bytes{};
    const auto size = static_cast<std::size_t>(layout.bits / 8);
    for (std::size_t i = size; i > 0; --i) {
        bytes[i - 1] = static_cast<std::byte>(bits & 0xff);
        bits >>= 8;
    }
    return Decimal::of_bytes({bytes.data(), size});
}

std::partial_ordering compare(DecimalParts left, DecimalParts right) noexcept {
    if (left.kind == Kind::not_a_number || right.kind == Kind::not_a_number) {
        return std::partial_ordering::unordered;
    }
    const auto sign = [](const DecimalParts& parts) {
        const bool is_zero = parts.kind == Kind::finite && parts.coefficient == 0;
        return is_zero ? 0 : parts.is_negative ? -1 : 1;
    };
    if (sign(left) != sign(right) || sign(left) == 0) {
        return sign(left) <=> sign(right);
    }
    if (left.is_negative) {
        std::swap(left, right);
    }
    if (left.kind == Kind::infinite || right.kind == Kind::infinite) {
        return (left.kind == Kind::infinite ? 1 : 0) <=> (right.kind == Kind::infinite ? 1 : 0);
    }
    const int left_size = digits_of(left.coefficient) + left.exponent;
    const int right_size = digits_of(right.coefficient) + right.exponent;
    if (left_size != right_size) {
        return left_size <=> right_size;
    }
    // As many digits before the point in both, so that aligning adds at most those of the other.
    return align(left, right) ? std::partial_ordering{left.coefficient <=> right.coefficient}
                              : std::partial_ordering::unordered;
}

std::optional<DecimalParts> calculate(char operation, DecimalParts left,
                                      DecimalParts right) noexcept {
    if (left.kind != Kind::finite || right.kind != Kind::finite) {
        return std::nullopt;
    }
    if (operation == '*') {
        if (digits_of(left.coefficient) + digits_of(right.coefficient) > most_digits) {
            return std::nullopt;
        }
        return DecimalParts{.is_negative = left.is_negative != right.is_negative,
                            .exponent = left.exponent + right.exponent,
                            .coefficient = left.coefficient * right.coefficient};
    }
    if (operation == '/') {
        return right.coefficient == 0 ? std::nullopt : std::optional{quotient(left, right)};
    }
    if (!align(left, right)) {
        return std::nullopt;
    }
    if (operation == '%') {
        if (right.coefficient == 0) {
            return std::nullopt;
        }
        left.coefficient %= right.coefficient;
        return left;
    }
    right.is_negative = right.is_negative != (operation == '-');
    return sum(left, right);
}

} // namespace sessionq::core

namespace sessionq::inline v1 {

Decimal::Decimal() noexcept { *this = *DecimalParts{}.to_decimal(); }

std::optional<Decimal> Decimal::parse(std::string_view text, Width width) noexcept {
    const bool is_negative = text.starts_with('-');
    if (is_negative || text.starts_with('+')) {
        text.remove_prefix(1);
    }
    std::optional<DecimalParts> parts{std::in_place};
    if (text == "Infinity") {
        parts->kind = Kind::infinite;
    } else if (text == "NaN") {
        parts->kind = Kind::not_a_number;
    } else {
        parts = read_digits(text);
        if (parts && !text.empty()) {
            text.remove_prefix(text.front() == 'e' || text.front() == 'E' ? 1 : 0);
            text.remove_prefix(text.size() > 1 && text[0] == '+' && is_digit(text[1]) ? 1 : 0);
            int exponent = 0;
            const auto [end, error] =
                std::from_chars(text.data(), text.data() + text.size(), exponent);
            if (error != std::errc{} || end != text.data() + text.size() || exponent > 10'000 ||
                exponent < -10'000) {
                return std::nullopt;
            }
            parts->exponent += exponent;
        }
    }
    if (!parts) {
        return std::nullopt;
    }
    parts->is_negative = is_negative;
    return parts->to_decimal(width);
}

std::optional<Decimal> Decimal::of_bytes(std::span<const std::byte> encoded) noexcept {
    for (const Width width : {Width::bits32, Width::bits64, Width::bits128}) {
        if (encoded.size() * 8 == static_cast<std::size_t>(layout_of(width).bits)) {
            Decimal made{Unset{}};
            made.width_ = width;
            std::ranges::copy(encoded, made.bytes_.begin());
            return made;
        }
    }
    return std::nullopt;
}

std::string Decimal::to_string() const {
    const DecimalParts parts = DecimalParts::of(*this);
    std::string text = parts.is_negative ? "-" : "";
    if (parts.kind != Kind::finite) {
        return parts.kind == Kind::infinite ? text + "Infinity" : "NaN";
    }
    // Without an exponent if that takes no zeros at the end and few at the beginning.
    constexpr int most_zeros = 6;
    std::string digits = text_of(parts.coefficient);
    const int before_point = static_cast<int>(digits.size()) + parts.exponent;
    if (parts.exponent > 0 || before_point <= -most_zeros) {
        if (digits.size() > 1) {
            digits.insert(1, 1, '.');
        }
        const int exponent = before_point - 1;
        return text + digits + (exponent < 0 ? "E" : "E+") + std::to_string(exponent);
    }
    if (before_point <= 0) {
        digits.insert(0, static_cast<std::size_t>(1 - before_point), '0');
    }
    if (parts.exponent < 0) {
        digits.insert(digits.size() - static_cast<std::size_t>(-parts.exponent), 1, '.');
    }
    return text + digits;
}

double Decimal::to_double() const {
    using Limits = std::numeric_limits<double>;
    const DecimalParts parts = DecimalParts::of(*this);
    const double sign = parts.is_negative ? -1 : 1;
    if (parts.kind != Kind::finite) {
        return parts.kind == Kind::infinite ? sign * Limits::infinity() : Limits::quiet_NaN();
    }
    // Doubles hold both parts of most numbers exactly, so that one operation rounds once.
    constexpr int exact_power = 22;
    if (parts.coefficient <= mask(53) && std::abs(parts.exponent) <= exact_power) {
        const double power = static_cast<double>(power_of_ten(std::abs(parts.exponent)));
        const double coefficient = sign * static_cast<double>(parts.coefficient);
        return parts.exponent < 0 ? coefficient / power : coefficient * power;
    }
    const std::string text = to_string();
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc::result_out_of_range) {
        return sign * (parts.exponent > 0 ? Limits::infinity() : 0.0);
    }
    return number;
}

bool operator==(const Decimal& left, const Decimal& right) noexcept {
    return std::is_eq(left <=> right);
}

std::partial_ordering operator<=>(const Decimal& left, const Decimal& right) noexcept {
    return core::compare(DecimalParts::of(left), DecimalParts::of(right));
}

} // namespace sessionq::inline v1
