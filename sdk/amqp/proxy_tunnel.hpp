// SPDX-License-Identifier: MIT
#pragma once

// A tunnel through an HTTP proxy. For amqp/, and for tools that look at a connection.

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <asio/ip/tcp.hpp>

#include "amqp/connect_exchange.hpp"

namespace sessionq::amqp {

/// Asks the proxy at the other end of a socket for a tunnel. Keeps itself alive until it has called
/// `Done`, and with it the owner of the socket, which `Done` must hold. Closing the socket ends it.
class ProxyTunnel : public std::enable_shared_from_this<ProxyTunnel> {
public:
    /// Called once, from the loop. A failure means that there is no tunnel.
    using Done = std::function<void(const std::optional<Failure>& failure)>;

    static void open(asio::ip::tcp::socket& socket, std::shared_ptr<const Proxy> proxy,
                     const core::HostPort& target, Done done);

private:
    ProxyTunnel(asio::ip::tcp::socket& socket, std::shared_ptr<const Proxy> proxy,
                const core::HostPort& target, Done done);

    void write();
    void read();
    void on_read(std::size_t count);
    void lost(const asio::error_code& error);

    asio::ip::tcp::socket& socket_;
    const std::shared_ptr<const Proxy> proxy_;
    ConnectExchange exchange_;
    const Done done_;
    std::string request_;
    std::array<char, 1024> bytes_{};
};

} // namespace sessionq::amqp
