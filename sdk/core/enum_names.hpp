// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

namespace sessionq::core {

/// The name of a value of an enum whose values count from zero, from a table of all of them. It
/// does not compile if the table does not end with `Last`. "unknown" for any other number.
template <auto Last, std::size_t Count>
[[nodiscard]] constexpr std::string_view name_of(decltype(Last) value,
                                                 const std::string_view (&names)[Count]) noexcept {
    static_assert(Count == static_cast<std::size_t>(Last) + 1);
    const auto index = static_cast<std::size_t>(value);
    return index < Count ? names[index] : "unknown";
}

} // namespace sessionq::core
