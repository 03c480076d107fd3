// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sessionq/transport.hpp>

#include "core/result.hpp"

namespace sessionq::detail::servicebus {

/// A connection string of Azure Service Bus.
struct ConnectionString {
    std::string host{};
    std::uint16_t port{5671};
    bool tls{true}; ///< false: `UseDevelopmentEmulator=true`
    Transport transport{Transport::tcp};
    std::string key_name{}; ///< set if `key` is set
    std::string key{};
    std::string signature{}; ///< a ready-made shared access signature
    std::string entity_path{};

    /// `Endpoint=sb://host[:port][/];SharedAccessKeyName=…;SharedAccessKey=…`, then optionally
    /// `;EntityPath=…`, `;UseDevelopmentEmulator=true` and `;TransportType=Amqp|AmqpWebSockets`.
    /// `SharedAccessSignature=…` may replace name and key. The default port is 5671, or 443 for
    /// WebSockets; without TLS it is 5672 or 80. Case does not matter in keys. Fails with
    /// `invalid_argument` and the key that is wrong, unknown or missing; the text contains no
    /// secret. `transport` is the caller's choice: fails with `invalid_option` if the string
    /// contradicts it.
    [[nodiscard]] static core::Result<ConnectionString> parse(
        std::string_view text, std::optional<Transport> transport = {});
};

} // namespace sessionq::detail::servicebus
