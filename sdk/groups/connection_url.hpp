#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "groups/dialect.hpp"

namespace sessionq::groups {

struct HostPort {
    std::string host{};
    std::uint16_t port{0};
    friend bool operator==(const HostPort&, const HostPort&) = default;
};

/// What a URL of a broker of message groups says.
struct ConnectionUrl {
    std::vector<HostPort> hosts{}; ///< at least one; tried in this order
    bool tls{false};
    std::string user{};
    std::string password{}; ///< a secret
    std::string virtual_host{};
    const Dialect* dialect{nullptr}; ///< null: found out from the peer

    /// `amqp[s]://[user[:password]@]host[:port][,host[:port]...][/virtual
    /// host][?dialect=artemis|broker-j]`. User, password and virtual host may be percent-encoded;
    /// an IPv6 address stands in brackets. Fails with invalid_argument naming the part that is
    /// wrong; the password is never in the text.
    [[nodiscard]] static core::Result<ConnectionUrl> parse(std::string_view text);

    /// Whether it is for this parser, by its scheme.
    [[nodiscard]] static bool is_one(std::string_view text) noexcept;
};

} // namespace sessionq::groups
