#pragma once

#include <cstddef>
#include <cstdint>

#include <sessionq/time.hpp>

namespace sessionq::server {

/// Bounds on the resources that one peer may use. All are above zero.
struct Limits {
    /// From the connection to the peer's open.
    Duration handshake_time{std::chrono::seconds{20}};
    /// From the open to the first accepted token.
    Duration claim_time{std::chrono::seconds{20}};
    /// Silence after which the connection is closed. The open asks for half of it, like Service
    /// Bus.
    Duration idle_time{std::chrono::minutes{8}};
    /// Links of a connection before a token is accepted.
    std::size_t links_before_claim{16};
    /// Links of a connection.
    std::size_t links{10000};
    /// The highest channel: AMQP sessions of a connection, less one.
    std::uint16_t channel_max{4999};
    /// Size of a frame; at least 512.
    std::uint32_t frame_bytes{65536};
    /// Size of a request to $cbs, which needs no rights.
    std::size_t claim_bytes{std::size_t{64} << 10U};
    /// Size of a request to a $management node.
    std::size_t request_bytes{std::size_t{8} << 20U};
    /// Bytes of messages, per AMQP session, that are taken from queues and not read by the peer
    /// yet.
    std::size_t buffered_bytes{std::size_t{1} << 20U};
    /// Bytes of answers, per AMQP session, that the peer has not read yet. Beyond it the request
    /// link is closed.
    std::size_t unread_answers{std::size_t{16} << 20U};
    /// Requests of a connection that wait for a message at the same time. Others are answered at
    /// once.
    std::size_t held_requests{100};
    /// Size of a request that may wait.
    std::size_t held_request_bytes{std::size_t{4} << 10U};
    /// How long a request waits for a message.
    Duration held_time{std::chrono::seconds{60}};
    /// Messages that a sender may have in transit.
    std::uint32_t send_credit{200};
};

} // namespace sessionq::server
