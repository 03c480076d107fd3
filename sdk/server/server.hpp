#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "amqp/acceptor.hpp"
#include "amqp/connection_host.hpp"
#include "server/peer_connection.hpp"

namespace asio {
class io_context;
}

namespace sessionq::server {

/// The AMQP front of a local broker, in Azure Service Bus's dialect: listens, and serves each
/// client that connects.
///
/// Bound to the loop's thread, constructor and destructor included. The broker outlives it.
class Server {
public:
    Server(broker::Broker& broker, core::EventLoop& loop, asio::io_context& io, AccessPolicy access,
           Limits limits = {});
    /// Ends every connection at once; their clients' locks are given up.
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// May be called for several addresses. Answers with the port.
    [[nodiscard]] core::Result<std::uint16_t> listen(const amqp::ListenSettings& settings);

    /// Serves a client whose stream came in another way than by listening here. Not while it
    /// drains.
    void serve(amqp::StreamPtr stream);

    /// Stops listening and handing out messages, waits until clients have settled what they have in
    /// hand, at most `longest`, then tells them to go and waits until they have gone, for a bounded
    /// time. `done` is called once; not within the call.
    void drain(Duration longest, std::function<void()> done);

    [[nodiscard]] std::size_t connections() const noexcept { return connections_.size(); }

private:
    void look_whether_drained();

    core::EventLoop& loop_;
    ServerContext context_;
    amqp::ConnectionHost host_;
    std::vector<std::unique_ptr<amqp::Acceptor>> acceptors_{};
    std::vector<std::unique_ptr<PeerConnection>> connections_{};
    std::function<void()> drained_{};
    TimePoint drain_until_{};
    TimePoint gone_until_{};
    bool told_to_go_{false};
    timing::Timer drain_timer_;
};

} // namespace sessionq::server
