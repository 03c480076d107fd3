// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/host_port.hpp"

namespace sessionq::amqp {

/// An HTTP proxy that opens tunnels.
struct Proxy {
    core::HostPort at{};
    std::string user{}; ///< Empty: no authentication.
    std::string password{};
    std::vector<std::string> bypass{}; ///< As `HttpProxy::bypass`.

    /// Whether connections to `host` go through the proxy.
    [[nodiscard]] bool serves(std::string_view host) const;
};

} // namespace sessionq::amqp
