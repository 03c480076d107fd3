// SPDX-License-Identifier: MIT
#include "broker/store/hash64.hpp"

#include <bit>
#include <cstring>

namespace sessionq::broker {
namespace {

constexpr std::uint64_t prime1 = 0x9e3779b185ebca87U;
constexpr std::uint64_t prime2 = 0xc2b2ae3d27d4eb4fU;
constexpr std::uint64_t prime3 = 0x165667b19e3779f9U;
constexpr std::uint64_t prime4 = 0x85ebca77c2b2ae63U;
constexpr std::uint64_t prime5 = 0x27d4eb2f165667c5U;
constexpr std::size_t stripe = 32; // bytes that the four lanes take together

/// Reads a little-endian number and moves on.
template <typename Number>
std::uint64_t take(const char*& at) noexcept {
    Number number{};
    std::memcpy(&number, at, sizeof number);
    at += sizeof number;
    if constexpr (std::endian::native == std::endian::big && sizeof number > 1) {
        Number swapped{0};
        for (std::size_t i = 0; i < sizeof number; ++i) {
            swapped = static_cast<Number>((swapped << 8U) | ((number >> (8 * i)) & 0xffU));
        }
        number = swapped;
    }
    return number;
}

std::uint64_t round(std::uint64_t lane, std::uint64_t word) noexcept {
    return std::rotl(lane + word * prime2, 31) * prime1;
}

std::uint64_t merge(std::uint64_t hash, std::uint64_t lane) noexcept {
    return (hash ^ round(0, lane)) * prime1 + prime4;
}

/// Hashes all whole stripes and moves `at` behind them.
std::uint64_t hash_stripes(const char*& at, const char* end, std::uint64_t seed) noexcept {
    std::uint64_t a = seed + prime1 + prime2;
    std::uint64_t b = seed + prime2;
    std::uint64_t c = seed;
    std::uint64_t d = seed - prime1;
    while (static_cast<std::size_t>(end - at) >= stripe) {
        a = round(a, take<std::uint64_t>(at));
        b = round(b, take<std::uint64_t>(at));
        c = round(c, take<std::uint64_t>(at));
        d = round(d, take<std::uint64_t>(at));
    }
    std::uint64_t hash = std::rotl(a, 1) + std::rotl(b, 7) + std::rotl(c, 12) + std::rotl(d, 18);
    for (const std::uint64_t lane : {a, b, c, d}) {
        hash = merge(hash, lane);
    }
    return hash;
}

std::uint64_t hash_rest(std::uint64_t hash, const char* at, const char* end) noexcept {
    while (end - at >= 8) {
        hash = std::rotl(hash ^ round(0, take<std::uint64_t>(at)), 27) * prime1 + prime4;
    }
    if (end - at >= 4) {
        hash = std::rotl(hash ^ (take<std::uint32_t>(at) * prime1), 23) * prime2 + prime3;
    }
    while (at != end) {
        hash = std::rotl(hash ^ (take<std::uint8_t>(at) * prime5), 11) * prime1;
    }
    return hash;
}

} // namespace

std::uint64_t hash64(std::string_view bytes, std::uint64_t seed) noexcept {
    const char* at = bytes.data();
    const char* const end = at + bytes.size();
    std::uint64_t hash = bytes.size() >= stripe ? hash_stripes(at, end, seed) : seed + prime5;
    hash = hash_rest(hash + bytes.size(), at, end);
    hash = (hash ^ (hash >> 33U)) * prime2;
    hash = (hash ^ (hash >> 29U)) * prime3;
    return hash ^ (hash >> 32U);
}

} // namespace sessionq::broker
