#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "broker/delivery_table.hpp"
#include "core/uuid.hpp"

namespace sessionq::server {

/// The broker's token of a message in hand as clients see it: a UUID.
struct LockToken {
    std::uint64_t holder{0}; ///< whose hand, by a number made at random
    broker::DeliveryTable::Token token{0};

    [[nodiscard]] static LockToken of(const core::Uuid& uuid) noexcept;
    /// Nothing if it is not 16 bytes long.
    [[nodiscard]] static std::optional<LockToken> of_tag(std::string_view tag) noexcept;

    [[nodiscard]] core::Uuid uuid() const noexcept;

    friend bool operator==(const LockToken&, const LockToken&) = default;
};

/// A new number for a hand.
[[nodiscard]] std::uint64_t make_holder_number();

} // namespace sessionq::server
