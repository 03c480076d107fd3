// SPDX-License-Identifier: MIT
#pragma once

// Streams on sockets. For amqp/, and for tools that look at a connection.

#include <asio/ip/tcp.hpp>

#include "amqp/handshake.hpp"
#include "amqp/tls.hpp"

namespace sessionq::amqp {

/// Whether a TLS handshake failed because the peer sent something else.
[[nodiscard]] bool is_no_tls(const asio::error_code& error) noexcept;

[[nodiscard]] StreamPtr make_tcp_stream(asio::ip::tcp::socket socket);

/// `host` is the name that the certificate must have, unless the settings name another.
[[nodiscard]] HandshakePtr start_tls_client(asio::ip::tcp::socket socket, TlsContextPtr tls,
                                            const std::string& host, Handshake::Done done);
[[nodiscard]] HandshakePtr start_tls_server(asio::ip::tcp::socket socket, TlsContextPtr tls,
                                            Handshake::Done done);

} // namespace sessionq::amqp
