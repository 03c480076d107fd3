// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "amqp/acceptor.hpp"
#include "amqp/connection_host.hpp"
#include "server/journal_pace.hpp"
#include "server/peer_connection.hpp"

namespace asio {
class io_context;
}

namespace sessionq::server {

/// The AMQP server of a local broker, in the dialect of Azure Service Bus. Listens and serves each
/// client that connects.
///
/// Bound to the loop's thread, constructor and destructor included. The broker outlives it.
class Server {
public:
    /// `message_locks`: of all servers of the broker.
    Server(broker::Broker& broker, core::EventLoop& loop, asio::io_context& io, AccessPolicy access,
           Limits limits = {},
           std::shared_ptr<MessageLocks> message_locks = std::make_shared<MessageLocks>());
    /// Ends every connection at once and releases the clients' locks.
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// Starts listening and returns the port. May be called for several addresses.
    [[nodiscard]] core::Result<std::uint16_t> listen(const amqp::ListenSettings& settings);

    /// Serves a client on a given stream. Not allowed while draining.
    void serve(amqp::StreamPtr stream);

    /// Replaces the keys. `Claims::keys_lost` says when the rights of a key end that is gone or
    /// changed.
    void change_keys(AccessKeys keys);

    /// Stops listening and sending messages. Waits at most `longest` until clients have settled
    /// their messages. Then asks them to disconnect and waits for that, for a bounded time. `done`
    /// is called once, never within the call.
    void drain(Duration longest, std::function<void()> done);

    [[nodiscard]] std::size_t connections() const noexcept { return connections_.size(); }
    /// The memory that its clients take, and the limits that they have met, in lines of text.
    [[nodiscard]] std::string describe() const;

private:
    void check_drained();

    core::EventLoop& loop_;
    ServerContext context_;
    amqp::ConnectionHost host_;
    JournalPace pace_;
    std::vector<std::unique_ptr<amqp::Acceptor>> acceptors_{};
    std::vector<std::unique_ptr<PeerConnection>> connections_{};
    std::function<void()> drained_{};
    TimePoint drain_until_{};
    TimePoint close_until_{};
    bool is_closing_{false};
    timing::Timer drain_timer_;
};

} // namespace sessionq::server
