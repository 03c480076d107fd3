#pragma once

#include <memory>

#include "amqp/dial.hpp"

namespace sessionq::amqp {

/// One attempt to connect over sockets: resolves, connects, and shakes hands, all under one
/// deadline.
///
/// Fails with `connection_refused` (no such host, nobody listens, no TLS there, no WebSocket
/// there), `peer_untrusted` (the certificate), or `timeout`; each says in its detail which host and
/// why.
class Connector final : public Dialing {
public:
    Connector(ConnectionHost& host, Target target, TimePoint deadline, Dialed dialed);
    ~Connector() override;

private:
    class Attempt;
    std::shared_ptr<Attempt> attempt_;
};

/// The usual `Dial`.
[[nodiscard]] std::unique_ptr<Dialing> dial_socket(ConnectionHost& host, const Target& target,
                                                   TimePoint deadline, Dialed dialed);

} // namespace sessionq::amqp
