// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string_view>

namespace sessionq::inline v1 {

/// The transport that carries AMQP to Azure Service Bus, or to a broker that speaks like it. See
/// `ClientOptions::transport`.
enum class Transport : std::uint8_t {
    /// A TCP connection: port 5671 with TLS, 5672 without.
    tcp,
    /// A WebSocket: port 443 with TLS, 80 without. Use it in networks that allow nothing else.
    web_sockets,
};

/// For example "web_sockets".
[[nodiscard]] std::string_view to_string(Transport transport) noexcept;

/// Writes `to_string(transport)`.
std::ostream& operator<<(std::ostream& out, Transport transport);

} // namespace sessionq::inline v1
