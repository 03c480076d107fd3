#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sessionq/transport.hpp>

#include "core/result.hpp"

namespace sessionq::servicebus {

/// What a connection string of Azure Service Bus says.
struct ConnectionString {
    std::string host{};
    std::uint16_t port{5671};
    bool tls{true}; ///< false: `UseDevelopmentEmulator=true`
    Transport transport{Transport::tcp};
    std::string key_name{}; ///< with `key`, or neither
    std::string key{};
    std::string signature{}; ///< a ready-made shared access signature
    std::string entity_path{};

    /// `Endpoint=sb://host[:port][/];SharedAccessKeyName=…;SharedAccessKey=…[;EntityPath=…][;UseDevelopmentEmulator=true][;TransportType=Amqp|AmqpWebSockets]`,
    /// or `SharedAccessSignature=…` in place of name and key. The port is 5671, 443 for WebSockets,
    /// 5672 and 80 without TLS, unless one is named. Keys in any case; pairs end with ';', which
    /// the last may leave out. Fails with invalid_argument naming the key that is wrong, unknown or
    /// missing; values of secrets are never in the text. `transport` is what was asked for beside
    /// the string: fails with invalid_option if the string says another.
    [[nodiscard]] static core::Result<ConnectionString> parse(
        std::string_view text, std::optional<Transport> transport = {});
};

} // namespace sessionq::servicebus
