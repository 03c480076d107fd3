#include "amqp/codec/lock_token.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace sessionq::amqp {
namespace {

constexpr std::array<std::size_t, 16> order{3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15}; // its own inverse
using Ticks = std::chrono::duration<std::int64_t, std::ratio<1, 10'000'000>>;
constexpr Ticks unix_epoch{621'355'968'000'000'000};

} // namespace

TokenTag tag_of(const core::Uuid& token) noexcept {
    TokenTag tag{};
    for (std::size_t i = 0; i < tag.size(); ++i) {
        tag[i] = static_cast<char>(token.bytes[order[i]]);
    }
    return tag;
}

std::optional<core::Uuid> token_of(std::string_view tag) noexcept {
    if (tag.size() != order.size()) {
        return std::nullopt;
    }
    core::Uuid token;
    for (std::size_t i = 0; i < order.size(); ++i) {
        token.bytes[order[i]] = static_cast<std::byte>(tag[i]);
    }
    return token;
}

std::int64_t ticks_of(WallTime time) noexcept { return (std::chrono::floor<Ticks>(time.time_since_epoch()) + unix_epoch).count(); }

WallTime time_of(std::int64_t ticks) noexcept {
    constexpr std::int64_t earliest = std::chrono::ceil<Ticks>(WallTime::min().time_since_epoch()).count();
    constexpr std::int64_t latest = std::chrono::floor<Ticks>(WallTime::max().time_since_epoch()).count();
    const std::int64_t since_epoch = ticks < 0 ? earliest : std::clamp(ticks - unix_epoch.count(), earliest, latest);
    return WallTime{std::chrono::duration_cast<WallTime::duration>(Ticks{since_epoch})};
}

} // namespace sessionq::amqp
