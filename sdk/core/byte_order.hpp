// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace sessionq::core {

/// The unsigned integer of 1, 2, 4 or 8 bytes.
template <std::size_t Width>
using UnsignedOf = std::conditional_t<
    Width == 1, std::uint8_t,
    std::conditional_t<Width == 2, std::uint16_t,
                       std::conditional_t<Width == 4, std::uint32_t, std::uint64_t>>>;

/// Converts a number between the machine's byte order and network order, in either direction.
template <typename Unsigned>
[[nodiscard]] constexpr Unsigned swap_to_network(Unsigned number) noexcept {
    if constexpr (std::endian::native == std::endian::big || sizeof number == 1) {
        return number;
    } else if constexpr (sizeof number == 2) {
        return __builtin_bswap16(number);
    } else if constexpr (sizeof number == 4) {
        return __builtin_bswap32(number);
    } else {
        return __builtin_bswap64(number);
    }
}

/// Reads `Width` bytes at `from` as a number in network order. `from` may be unaligned.
template <std::size_t Width>
[[nodiscard]] inline std::uint64_t number_at(const char* from) noexcept {
    static_assert(sizeof(UnsignedOf<Width>) == Width);
    UnsignedOf<Width> number;
    std::memcpy(&number, from, Width);
    return swap_to_network(number);
}

/// Writes the `Width` lowest bytes of `number` in network order. `to` may be unaligned.
template <std::size_t Width>
inline void put_number(char* to, std::uint64_t number) noexcept {
    static_assert(sizeof(UnsignedOf<Width>) == Width);
    const auto swapped = swap_to_network(static_cast<UnsignedOf<Width>>(number));
    std::memcpy(to, &swapped, Width);
}

} // namespace sessionq::core
