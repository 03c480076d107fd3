// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "amqp/dial.hpp"

namespace sessionq::amqp {

/// One attempt to connect by socket: resolve, connect, ask the proxy for a tunnel, and shake hands,
/// under one deadline.
///
/// Fails with `connection_refused` (unknown host, connection refused, no tunnel, or failed TLS or
/// WebSocket handshake), `unauthorized` (by the proxy), `peer_untrusted` (the certificate), or
/// `timeout`. The detail names the host and the cause.
class Connector final : public Dialing {
public:
    Connector(ConnectionHost& host, Target target, TimePoint deadline, Dialed dialed);
    ~Connector() override;

private:
    class Attempt;
    std::shared_ptr<Attempt> attempt_;
};

/// The default `Dial`.
[[nodiscard]] std::unique_ptr<Dialing> dial_socket(ConnectionHost& host, const Target& target,
                                                   TimePoint deadline, Dialed dialed);

} // namespace sessionq::amqp
