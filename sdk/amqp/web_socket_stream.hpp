#pragma once

// WebSocket over another stream; for amqp/'s own sources.

#include "amqp/connection_host.hpp"
#include "amqp/handshake.hpp"

namespace sessionq::amqp {

/// `host`: whom the request names. `where`: the peer, for people.
[[nodiscard]] HandshakePtr start_web_socket_client(ConnectionHost& host, StreamPtr lower,
                                                   const std::string& host_name,
                                                   const std::string& path, Handshake::Done done);
[[nodiscard]] HandshakePtr start_web_socket_server(ConnectionHost& host, StreamPtr lower,
                                                   const std::string& path, Handshake::Done done);

} // namespace sessionq::amqp
