// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/ascii_case.hpp"

namespace sessionq::server {

/// The node that a peer's address names.
struct NodeAddress {
    enum class Kind : std::uint8_t { entity, management, claims };

    Kind kind{Kind::entity};
    std::string entity{}; ///< the broker's name for it; empty for claims

    friend bool operator==(const NodeAddress&, const NodeAddress&) = default;
};

/// Parses every form in which clients write an address: bare, with a leading slash, or as a URI
/// whose scheme and host are ignored. Well-known segments match in any case. Returns nothing if the
/// address names no possible node.
[[nodiscard]] std::optional<NodeAddress> parse_address(std::string_view address);

using core::equal_ignoring_case;
using core::lower_case;

/// Returns the part after scheme and host, without leading and trailing slashes.
[[nodiscard]] std::string_view path_of(std::string_view address) noexcept;

} // namespace sessionq::server
