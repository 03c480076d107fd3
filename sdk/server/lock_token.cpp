#include "server/lock_token.hpp"

#include "amqp/codec/lock_token.hpp"

namespace sessionq::server {
namespace {

std::uint64_t read(const std::byte* at) noexcept {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < 8; ++i) {
        number = number << 8U | static_cast<std::uint64_t>(at[i]);
    }
    return number;
}

void write(std::byte* at, std::uint64_t number) noexcept {
    for (std::size_t i = 0; i < 8; ++i) {
        at[i] = static_cast<std::byte>(number >> (56 - 8 * i));
    }
}

} // namespace

LockToken LockToken::of(const core::Uuid& uuid) noexcept { return {.holder = read(uuid.bytes.data()), .token = read(uuid.bytes.data() + 8)}; }

std::optional<LockToken> LockToken::of_tag(std::string_view tag) noexcept {
    const auto uuid = amqp::token_of(tag);
    return uuid ? std::optional{of(*uuid)} : std::nullopt;
}

core::Uuid LockToken::uuid() const noexcept {
    core::Uuid uuid;
    write(uuid.bytes.data(), holder);
    write(uuid.bytes.data() + 8, token);
    return uuid;
}

std::uint64_t make_holder_number() { return LockToken::of(core::Uuid::make()).holder; }

} // namespace sessionq::server
