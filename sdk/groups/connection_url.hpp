// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/host_port.hpp"
#include "core/result.hpp"
#include "groups/dialect.hpp"

namespace sessionq::groups {

/// The parsed URL of a broker with message groups. The client parses its connection string before
/// it connects, and puts the result into the `EndpointSettings`.
struct ConnectionUrl {
    std::vector<core::HostPort> hosts{}; ///< At least one; tried in this order.
    bool tls{false};
    std::string user{};
    std::string password{}; ///< A secret.
    std::string virtual_host{};
    const Dialect* dialect{nullptr}; ///< Null: learned from the broker.

    /// Parses a URL of this form, written without the line break:
    ///
    ///     amqp[s]://[user[:password]@]host[:port][,host[:port]...]
    ///         [/virtual host][?dialect=artemis|broker-j]
    ///
    /// User, password and virtual host may be percent-encoded. An IPv6 address is written in
    /// brackets. Fails with `invalid_argument` and names the wrong part. The failure's text never
    /// contains the password.
    [[nodiscard]] static core::Result<ConnectionUrl> parse(std::string_view text);

    /// Whether the text begins with a scheme of this parser.
    [[nodiscard]] static bool is_one(std::string_view text) noexcept;
};

} // namespace sessionq::groups
