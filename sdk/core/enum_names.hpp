// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

namespace sessionq::core {

/// The name of a value of an enum whose values count from zero, from a table of all of them. It
/// does not compile if the table does not end with `last`. "unknown" for any other number.
template <auto last, std::size_t count>
[[nodiscard]] constexpr std::string_view name_of(decltype(last) value,
                                                 const std::string_view (&names)[count]) noexcept {
    static_assert(count == static_cast<std::size_t>(last) + 1);
    const auto index = static_cast<std::size_t>(value);
    return index < count ? names[index] : "unknown";
}

} // namespace sessionq::core
