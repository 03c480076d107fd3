// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.hpp"

namespace sessionq::core {

/// A host, by name or address, and a port.
struct HostPort {
    std::string host{};
    std::uint16_t port{0};
    friend bool operator==(const HostPort&, const HostPort&) = default;
};

/// Parses `HOST[:PORT]`. An IPv6 address is written in brackets. Fails with `invalid_argument`;
/// `what` names the text in the failure.
[[nodiscard]] Result<HostPort> parse_host_port(std::string_view text, std::uint16_t default_port,
                                               const std::string& what);

/// Whether a text may name a host: it is not empty and has no spaces, control characters or '/'.
[[nodiscard]] bool is_host(std::string_view text) noexcept;

/// `HOST:PORT`, with brackets around an IPv6 address.
[[nodiscard]] std::string to_string(const HostPort& where);

} // namespace sessionq::core
