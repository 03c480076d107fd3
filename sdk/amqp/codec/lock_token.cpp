// SPDX-License-Identifier: MIT
#include "amqp/codec/lock_token.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace sessionq::amqp {
namespace {

/// Converts between the byte order of a tag and that of a UUID.
void reorder(const char* from, char* to) noexcept {
    std::memcpy(to, from, 16);
    std::reverse(to, to + 4);
    std::reverse(to + 4, to + 6);
    std::reverse(to + 6, to + 8);
}

using Ticks = std::chrono::duration<std::int64_t, std::ratio<1, 10'000'000>>;
constexpr Ticks unix_epoch{621'355'968'000'000'000};

} // namespace

TokenTag tag_of(const core::Uuid& token) noexcept {
    TokenTag tag{};
    reorder(reinterpret_cast<const char*>(token.bytes.data()), tag.data());
    return tag;
}

std::optional<core::Uuid> token_of(std::string_view tag) noexcept {
    core::Uuid token;
    if (tag.size() != token.bytes.size()) {
        return std::nullopt;
    }
    reorder(tag.data(), reinterpret_cast<char*>(token.bytes.data()));
    return token;
}

std::int64_t ticks_of(WallTime time) noexcept {
    return (std::chrono::floor<Ticks>(time.time_since_epoch()) + unix_epoch).count();
}

WallTime time_of(std::int64_t ticks) noexcept {
    constexpr std::int64_t earliest =
        std::chrono::ceil<Ticks>(WallTime::min().time_since_epoch()).count();
    constexpr std::int64_t latest =
        std::chrono::floor<Ticks>(WallTime::max().time_since_epoch()).count();
    const std::int64_t since_epoch =
        ticks < 0 ? earliest : std::clamp(ticks - unix_epoch.count(), earliest, latest);
    return WallTime{std::chrono::duration_cast<WallTime::duration>(Ticks{since_epoch})};
}

} // namespace sessionq::amqp
