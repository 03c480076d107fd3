// SPDX-License-Identifier: MIT
#pragma once

// WebSocket over another stream. Internal to amqp/.

#include <string>
#include <vector>

#include "amqp/connection_host.hpp"
#include "amqp/handshake.hpp"

namespace sessionq::amqp {

/// `host_name` is the host in the request.
[[nodiscard]] HandshakePtr start_web_socket_client(ConnectionHost& host, StreamPtr lower,
                                                   const std::string& host_name,
                                                   const std::string& path, Handshake::Done done);
[[nodiscard]] HandshakePtr start_web_socket_server(ConnectionHost& host, StreamPtr lower,
                                                   const std::string& path,
                                                   const std::vector<std::string>& origins,
                                                   bool is_over_tls, Handshake::Done done);

} // namespace sessionq::amqp
