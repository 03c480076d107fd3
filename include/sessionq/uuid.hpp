// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sessionq::inline v1 {

/// A UUID (RFC 9562), as a value of a property.
///
/// Example:
///
///     const std::optional<Uuid> id = Uuid::parse("6fa459ea-ee8a-3ca4-894e-db77e160355e");
///     std::cout << (id ? id->to_string() : "not a UUID") << '\n';
///
/// Thread safety: distinct objects are safe, a shared object is safe to read.
struct Uuid {
    std::array<std::byte, 16> bytes{}; ///< In the order of the text.

    /// Reads the 36 characters, in either case. Nothing for any other text.
    [[nodiscard]] static std::optional<Uuid> parse(std::string_view text) noexcept;

    /// The 36 characters, in lower case.
    [[nodiscard]] std::string to_string() const;

    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the generated zero for a pointer
    friend auto operator<=>(const Uuid&, const Uuid&) = default;
};

} // namespace sessionq::inline v1

/// So that a UUID can be a key of `std::unordered_map`.
template <>
struct std::hash<sessionq::Uuid> {
    [[nodiscard]] std::size_t operator()(const sessionq::Uuid& uuid) const noexcept;
};
