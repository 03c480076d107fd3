// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <sessionq/time.hpp>

#include "amqp/connection_host.hpp"
#include "amqp/proxy.hpp"
#include "amqp/stream.hpp"
#include "amqp/tls.hpp"
#include "core/result.hpp"

namespace sessionq::amqp {

/// The address of a peer.
struct Target {
    std::string host{}; ///< a name or an address
    std::uint16_t port{5672};
    TlsContextPtr tls{};           ///< null: no TLS
    std::string web_socket_path{}; ///< the path for AMQP over WebSocket; empty: no WebSocket
    /// Where to connect instead. TLS, WebSocket and AMQP still name `host`. Unset: `host`.
    std::optional<core::HostPort> at{};
    std::shared_ptr<const Proxy> proxy{}; ///< null: none
};

/// An attempt to connect. Bound to the thread of its host. Destroying it drops the attempt without
/// a call.
class Dialing {
public:
    Dialing() = default;
    Dialing(const Dialing&) = delete;
    Dialing& operator=(const Dialing&) = delete;
    virtual ~Dialing() = default;
};

/// Called once, from the loop, never within the call that began the attempt. May destroy the
/// attempt.
using Dialed = std::function<void(core::Result<StreamPtr> stream)>;

/// Begins an attempt to reach the target by the deadline. Fails with `connection_refused`,
/// `peer_untrusted`, `unauthorized` (the proxy's) or `timeout`.
using Dial = std::function<std::unique_ptr<Dialing>(ConnectionHost& host, const Target& target,
                                                    TimePoint deadline, Dialed dialed)>;

} // namespace sessionq::amqp
