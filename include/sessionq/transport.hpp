#pragma once

#include <cstdint>

namespace sessionq {

/// What carries AMQP to Azure Service Bus, or to what speaks like it; see
/// `ClientOptions::transport`.
enum class Transport : std::uint8_t {
    tcp,         ///< A connection of its own: on port 5671 with TLS, 5672 without.
    web_sockets, ///< A WebSocket, for networks that let nothing else out: on port 443 with TLS, 80
                 ///< without.
};

} // namespace sessionq
