#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/random.hpp"

namespace sessionq::core {

/// A 128-bit identifier (RFC 9562). A value type.
struct Uuid {
    std::array<std::byte, 16> bytes{};

    /// Version 4 from `random`.
    [[nodiscard]] static Uuid make(Random& random) noexcept;

    /// Version 4 from the operating system's entropy. Thread-safe.
    [[nodiscard]] static Uuid make();

    /// Reads the 36-character form, either case; nothing on anything else.
    [[nodiscard]] static std::optional<Uuid> parse(std::string_view text) noexcept;

    /// The 36-character lower-case form.
    [[nodiscard]] std::string to_string() const;

    friend auto operator<=>(const Uuid&, const Uuid&) = default;
};

} // namespace sessionq::core
