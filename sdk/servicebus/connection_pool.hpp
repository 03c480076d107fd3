// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "core/reply_queue.hpp"
#include "servicebus/broker_connection.hpp"

namespace sessionq::detail::servicebus {

/// The connections of an endpoint: the first for everything, more of them for sessions that the
/// first has no room for. Bound to the loop.
class ConnectionPool {
public:
    ConnectionPool(core::EventLoop& loop, asio::io_context& io, EndpointSettings settings);
    ConnectionPool(const ConnectionPool&) = delete;
    ConnectionPool& operator=(const ConnectionPool&) = delete;

    [[nodiscard]] BrokerConnection& first() const noexcept { return *connections_.front(); }
    /// Of all of them.
    [[nodiscard]] core::ReceiveRoom& room() const noexcept { return *room_; }
    [[nodiscard]] const core::ConnectionCounts& counts() const noexcept {
        return *settings_.counts;
    }
    [[nodiscard]] std::size_t size() const noexcept { return connections_.size(); }

    void add_status(std::vector<core::ConnectionStatus>& into) const {
        for (const auto& connection : connections_) {
            into.push_back(connection->status());
        }
    }

    /// The earliest connection with room for a session, so that later ones become unused. Unused
    /// ones are closed by a later turn.
    [[nodiscard]] BrokerConnection& for_session();

private:
    using Connections = std::vector<std::unique_ptr<BrokerConnection>>;

    void retire_unused(const BrokerConnection& except);

    amqp::ConnectionHost host_;
    const core::ReceiveRoomPtr room_{std::make_shared<core::ReceiveRoom>()};
    EndpointSettings settings_;
    Connections connections_{};
    core::ReplyQueue retired_; // of tasks that hold connections: one may be telling its links
};

} // namespace sessionq::detail::servicebus
