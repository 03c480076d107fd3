// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/random.hpp"

namespace sessionq::core {

/// A 128-bit identifier (RFC 9562).
struct Uuid {
    std::array<std::byte, 16> bytes{};

    /// Makes a version 4 UUID from `random`.
    [[nodiscard]] static Uuid make(Random& random) noexcept;

    /// Makes a version 4 UUID from the operating system's entropy. Thread-safe.
    [[nodiscard]] static Uuid make();

    /// Converts to and from two words. `high` holds the first eight bytes, the most significant
    /// first.
    [[nodiscard]] static Uuid of(std::uint64_t high, std::uint64_t low) noexcept;
    [[nodiscard]] std::uint64_t high() const noexcept { return word(0); }
    [[nodiscard]] std::uint64_t low() const noexcept { return word(8); }

    /// Parses the 36-character form in either case. Returns nothing for any other text.
    [[nodiscard]] static std::optional<Uuid> parse(std::string_view text) noexcept;

    /// The 36-character form in lower case.
    [[nodiscard]] std::string to_string() const;

    friend auto operator<=>(const Uuid&, const Uuid&) = default;

private:
    [[nodiscard]] std::uint64_t word(std::size_t from) const noexcept;
};

} // namespace sessionq::core
