// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>

#include <sessionq/decimal.hpp>

namespace sessionq::core {

__extension__ using Uint128 = unsigned __int128;

/// A decimal number taken apart, to compute with: `coefficient` times ten to the `exponent`.
struct DecimalParts {
    enum class Kind : std::uint8_t { finite, infinite, not_a_number };

    Kind kind{Kind::finite};
    bool is_negative{false};
    int exponent{0};
    Uint128 coefficient{0};

    [[nodiscard]] static DecimalParts of(const Decimal& decimal) noexcept;
    template <typename Integer>
    [[nodiscard]] static DecimalParts of_integer(Integer number) noexcept {
        const bool is_negative = std::numeric_limits<Integer>::is_signed && number < Integer{0};
        const auto bits = static_cast<std::uint64_t>(number);
        return {.is_negative = is_negative, .coefficient = is_negative ? 0 - bits : bits};
    }

    /// Returns nothing if the width cannot hold the number exactly.
    [[nodiscard]] std::optional<Decimal> to_decimal(
        Decimal::Width width = Decimal::Width::bits128) const noexcept;
};

[[nodiscard]] std::partial_ordering compare(DecimalParts left, DecimalParts right) noexcept;

/// Calculates `+ - * / %` of finite numbers. A quotient has up to 28 digits. Returns nothing for a
/// division by zero, and if the result needs more digits than a decimal has.
[[nodiscard]] std::optional<DecimalParts> calculate(char operation, DecimalParts left,
                                                    DecimalParts right) noexcept;

} // namespace sessionq::core
