// SPDX-License-Identifier: MIT
#include "core/uuid.hpp"

#include <random>

#include <sessionq/uuid.hpp>

#include "core/byte_order.hpp"

namespace sessionq::core {
namespace {

constexpr char digits[] = "0123456789abcdef";
constexpr std::size_t text_length = 36;

constexpr bool is_dash(std::size_t position) noexcept {
    return position == 8 || position == 13 || position == 18 || position == 23;
}

int nibble(char c) noexcept {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    if (c >= 'A' && c <= 'F') {
        return c - 'A' + 10;
    }
    return -1;
}

Uuid from_words(std::uint64_t high, std::uint64_t low) noexcept {
    high = (high & ~0xf000ULL) | 0x4000ULL;           // version 4
    low = (low & ~(0xc0ULL << 56)) | (0x80ULL << 56); // variant 10
    return Uuid::of(high, low);
}

} // namespace

Uuid Uuid::of(std::uint64_t high, std::uint64_t low) noexcept {
    Uuid made;
    auto* const bytes = reinterpret_cast<char*>(made.bytes.data());
    put_number<8>(bytes, high);
    put_number<8>(bytes + 8, low);
    return made;
}

std::uint64_t Uuid::word(std::size_t from) const noexcept {
    return number_at<8>(reinterpret_cast<const char*>(bytes.data()) + from);
}

Uuid Uuid::make(Random& random) noexcept {
    const std::uint64_t high = random.next();
    return from_words(high, random.next());
}

Uuid Uuid::make() {
    thread_local std::random_device device;
    const auto word = [] { return (std::uint64_t{device()} << 32) | device(); };
    const std::uint64_t high = word();
    return from_words(high, word());
}

std::optional<Uuid> Uuid::parse(std::string_view text) noexcept {
    if (text.size() != text_length) {
        return std::nullopt;
    }
    Uuid made;
    std::size_t at = 0;
    for (std::size_t i = 0; i < text_length;) {
        if (is_dash(i)) {
            if (text[i] != '-') {
                return std::nullopt;
            }
            ++i;
            continue;
        }
        const int high = nibble(text[i]);
        const int low = nibble(text[i + 1]);
        if (high < 0 || low < 0) {
            return std::nullopt;
        }
        made.bytes[at++] = static_cast<std::byte>(high * 16 + low);
        i += 2;
    }
    return made;
}

std::string Uuid::to_string() const {
    std::string text(text_length, '-');
    std::size_t at = 0;
    for (const std::byte value : bytes) {
        at += is_dash(at) ? 1 : 0;
        text[at++] = digits[std::to_integer<unsigned>(value) >> 4];
        text[at++] = digits[std::to_integer<unsigned>(value) & 0xf];
    }
    return text;
}

} // namespace sessionq::core

namespace sessionq::inline v1 {

std::optional<Uuid> Uuid::parse(std::string_view text) noexcept {
    const auto parsed = core::Uuid::parse(text);
    return parsed ? std::optional{Uuid{parsed->bytes}} : std::nullopt;
}

std::string Uuid::to_string() const { return core::Uuid{bytes}.to_string(); }

} // namespace sessionq::inline v1

std::size_t std::hash<sessionq::Uuid>::operator()(const sessionq::Uuid& uuid) const noexcept {
    // Not its words: some programs make UUIDs that differ in few bits.
    return std::hash<std::string_view>{}(
        {reinterpret_cast<const char*>(uuid.bytes.data()), uuid.bytes.size()});
}
