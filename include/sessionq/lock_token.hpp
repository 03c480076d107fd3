// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <string>

namespace sessionq::inline v1 {

/// The broker's name for the lock of one delivery: a UUID. For logs and the broker's own tools.
///
/// Example:
///
///     processor.on_message([](MessageContext& context) {
///         if (const std::optional<LockToken>& token = context.message().lock_token()) {
///             std::clog << token->to_string() << '\n';
///         }
///     });
///
/// Thread safety: distinct objects are safe, a shared object is safe to read.
struct LockToken {
    std::array<std::byte, 16> bytes{}; ///< In the order of the text.

    /// The 36 characters of a UUID, in lower case.
    [[nodiscard]] std::string to_string() const;

    friend bool operator==(const LockToken&, const LockToken&) = default;
};

} // namespace sessionq::inline v1

/// So that a lock token can be a key of `std::unordered_map`.
template <>
struct std::hash<sessionq::LockToken> {
    [[nodiscard]] std::size_t operator()(const sessionq::LockToken& token) const noexcept;
};
