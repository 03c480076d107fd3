#pragma once

#include <cstddef>
#include <cstdint>

#include <sessionq/time.hpp>

namespace sessionq::server {

/// Bounds on the resources that one peer may use. All are above zero.
struct Limits {
    Duration handshake_time{std::chrono::seconds{20}}; ///< from the connection to the peer's open
    Duration claim_time{std::chrono::seconds{20}}; ///< from the open to the first accepted token
    Duration idle_time{std::chrono::minutes{8}}; ///< silence after which the connection is closed;
                                                 ///< the open asks for half of it, like Service Bus
    std::size_t links_before_claim{16}; ///< per connection, before a token is accepted
    std::size_t links{10000};           ///< per connection
    std::uint16_t channel_max{
        4999}; ///< the highest channel: AMQP sessions per connection, less one
    std::uint32_t frame_bytes{65536}; ///< of a frame; at least 512
    std::size_t claim_bytes{std::size_t{64}
                            << 10U}; ///< of a request to $cbs, which needs no rights
    std::size_t request_bytes{std::size_t{8} << 20U}; ///< of a request to a $management node
    std::size_t buffered_bytes{
        std::size_t{1}
        << 20U}; ///< per AMQP session: messages taken from queues that the peer has not read yet
    std::size_t unread_answers{std::size_t{16}
                               << 20U}; ///< per AMQP session, in bytes: answers that the peer has
                                        ///< not read yet; beyond it the request link is closed
    std::uint32_t send_credit{200};     ///< messages that a sender may have in transit
};

} // namespace sessionq::server
