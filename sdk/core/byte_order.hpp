#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace sessionq::core {

/// Of 1, 2, 4 or 8 bytes.
template <std::size_t Width>
using UnsignedOf = std::conditional_t<
    Width == 1, std::uint8_t,
    std::conditional_t<Width == 2, std::uint16_t,
                       std::conditional_t<Width == 4, std::uint32_t, std::uint64_t>>>;

/// A number in the machine's order from network order, or the other way round.
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

/// The number of `Width` bytes that begins at `from`, in network order; it need not be aligned.
template <std::size_t Width>
[[nodiscard]] inline std::uint64_t number_at(const char* from) noexcept {
    static_assert(sizeof(UnsignedOf<Width>) == Width);
    UnsignedOf<Width> number;
    std::memcpy(&number, from, Width);
    return swap_to_network(number);
}

/// The `Width` lowest bytes of a number, in network order.
template <std::size_t Width>
inline void put_number(char* to, std::uint64_t number) noexcept {
    static_assert(sizeof(UnsignedOf<Width>) == Width);
    const auto swapped = swap_to_network(static_cast<UnsignedOf<Width>>(number));
    std::memcpy(to, &swapped, Width);
}

} // namespace sessionq::core
