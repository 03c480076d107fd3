#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <sessionq/time.hpp>

#include "amqp/connection_host.hpp"
#include "amqp/stream.hpp"
#include "amqp/tls.hpp"
#include "core/result.hpp"

namespace sessionq::amqp {

/// Where a stream leads.
struct Target {
    std::string host{}; ///< a name or an address
    std::uint16_t port{5672};
    TlsContextPtr tls{};           ///< null: none
    std::string web_socket_path{}; ///< AMQP over WebSocket, at this path; empty: not
};

/// One attempt to connect: resolves, connects, and shakes hands, all under one deadline. Used once. Destroying it drops the attempt; nobody is told then.
///
/// Fails with `connection_refused` (no such host, nobody listens, no TLS there, no WebSocket there), `peer_untrusted` (the certificate), or `timeout`; each says in its
/// detail which host and why.
class Connector {
public:
    /// Told once, from the loop, never from within `start`; may destroy the connector.
    using Done = std::function<void(core::Result<StreamPtr> stream)>;

    Connector(ConnectionHost& host, Target target, TimePoint deadline, Done done);
    Connector(const Connector&) = delete;
    Connector& operator=(const Connector&) = delete;
    ~Connector();

private:
    class Attempt;
    std::shared_ptr<Attempt> attempt_;
};

} // namespace sessionq::amqp
