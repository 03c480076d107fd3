// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sessionq::inline v1 {

/// A decimal number in one of AMQP's three widths (IEEE 754-2008, binary integer form). It keeps
/// the encoded bytes, so trailing zeros and unusual encodings survive. Azure's client for .NET
/// encodes the exponent in a form of its own, which is understood too. Zero by default.
///
/// Example:
///
///     const std::optional<Decimal> price = Decimal::parse("7.50", Decimal::Width::bits64);
///     std::cout << price->to_string() << '\n'; // 7.50
///
/// Thread safety: distinct objects are safe, a shared object is safe to read.
class Decimal {
public:
    /// How long the encoded form is, and so how many digits it holds.
    enum class Width : std::uint8_t {
        bits32,  ///< 7 digits.
        bits64,  ///< 16 digits.
        bits128, ///< 34 digits.
    };

    Decimal() noexcept;

    /// Reads digits with an optional sign, point and exponent, such as "-7.50" or "1E+3", or "NaN",
    /// "Infinity", "-Infinity". Nothing for another text, or for a number that the width cannot
    /// hold exactly.
    [[nodiscard]] static std::optional<Decimal> parse(std::string_view text,
                                                      Width width = Width::bits128) noexcept;

    /// Takes the encoded form: 4, 8 or 16 bytes. Nothing for another length.
    [[nodiscard]] static std::optional<Decimal> of_bytes(
        std::span<const std::byte> encoded) noexcept;

    /// All digits, also trailing zeros. `parse` reads it again.
    [[nodiscard]] std::string to_string() const;
    [[nodiscard]] double to_double() const; ///< The nearest.
    [[nodiscard]] Width width() const noexcept { return width_; }
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
        return {bytes_.data(), std::size_t{4} << static_cast<unsigned>(width_)};
    }

    /// Compares the numbers, also of different widths: 7.5 equals 7.50. NaN equals nothing.
    friend bool operator==(const Decimal& left, const Decimal& right) noexcept;
    friend std::partial_ordering operator<=>(const Decimal& left, const Decimal& right) noexcept;

private:
    struct Unset {};
    explicit Decimal(Unset) noexcept {}

    Width width_{Width::bits128};
    std::array<std::byte, 16> bytes_{};
};

/// For example "bits128".
[[nodiscard]] std::string_view to_string(Decimal::Width width) noexcept;

/// Writes `to_string(width)`.
std::ostream& operator<<(std::ostream& out, Decimal::Width width);

} // namespace sessionq::inline v1
