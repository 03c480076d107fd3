#pragma once

// Streams on sockets; for amqp/'s own sources.

#include <functional>

#include <asio/ip/tcp.hpp>

#include "amqp/stream.hpp"
#include "amqp/tls.hpp"

namespace sessionq::amqp {

[[nodiscard]] StreamPtr make_tcp_stream(asio::ip::tcp::socket socket);

/// A stream that is about to be made. Dropping the attempt: `cancel`, after which nobody is told.
class TlsHandshake : public std::enable_shared_from_this<TlsHandshake> {
public:
    /// Called once, from the loop, not from within a call.
    using Done = std::function<void(StreamPtr stream, const Failure& failure)>;

    virtual ~TlsHandshake() = default;
    virtual void cancel() noexcept = 0;
};
using TlsHandshakePtr = std::shared_ptr<TlsHandshake>;

/// `host`: whom the certificate must name, unless the settings say otherwise.
[[nodiscard]] TlsHandshakePtr start_tls_client(asio::ip::tcp::socket socket, TlsContextPtr tls, const std::string& host, TlsHandshake::Done done);
[[nodiscard]] TlsHandshakePtr start_tls_server(asio::ip::tcp::socket socket, TlsContextPtr tls, TlsHandshake::Done done);

} // namespace sessionq::amqp
