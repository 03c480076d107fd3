#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/ascii_case.hpp"

namespace sessionq::server {

/// What a peer's address names.
struct NodeAddress {
    enum class Kind : std::uint8_t { entity, management, claims };

    Kind kind{Kind::entity};
    std::string entity{}; ///< as the broker names it; empty for claims

    friend bool operator==(const NodeAddress&, const NodeAddress&) = default;
};

/// Understands every form in which clients write the same address: bare, with a slash before it, or
/// as a URI whose scheme and host say nothing here. The segments with a meaning are found in any
/// case. Nothing: it names nothing that could exist.
[[nodiscard]] std::optional<NodeAddress> parse_address(std::string_view address);

using core::equal_ignoring_case;
using core::lower_case;

/// What follows scheme and host, without slashes around it. Not a URI: all of it.
[[nodiscard]] std::string_view path_of(std::string_view address) noexcept;

} // namespace sessionq::server
