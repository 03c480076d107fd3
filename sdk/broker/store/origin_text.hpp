// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sessionq::broker {

/// Where a forwarded message comes from, as a store keeps it: in `MessageRow::passed_to`, before
/// the ids.
struct OriginText {
    std::int64_t first_sequence{0}; ///< zero: it was not forwarded
    std::string_view source{};      ///< of a dead letter

    /// Empty if it was not forwarded. Else `=NUMBER,LENGTH,SOURCE` and a space.
    [[nodiscard]] std::string write() const;

    /// Reads it from the beginning of `text`, and removes it there.
    [[nodiscard]] static OriginText read(std::string_view& text) noexcept;
};

} // namespace sessionq::broker
