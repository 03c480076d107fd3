#pragma once

#include <cstddef>
#include <cstdint>

#include <sessionq/time.hpp>

namespace sessionq::server {

/// What keeps a peer from taking more than its share. All above zero.
struct Limits {
    Duration handshake_time{std::chrono::seconds{20}}; ///< from the connection to the peer's open
    Duration claim_time{
        std::chrono::seconds{20}}; ///< from the open to the first token that is accepted
    Duration idle_time{std::chrono::minutes{
        8}}; ///< without a sign of life; half of it is asked for, as the service does
    std::size_t links_before_claim{16}; ///< per connection, while no token was accepted
    std::size_t links{10000};           ///< per connection
    std::uint16_t channel_max{
        4999}; ///< the highest channel: AMQP sessions per connection, less one
    std::uint32_t frame_bytes{65536}; ///< one frame; at least 512
    std::size_t claim_bytes{std::size_t{64}
                            << 10U}; ///< one request to $cbs, which anybody may send
    std::size_t request_bytes{std::size_t{8} << 20U}; ///< one request to a $management node
    std::size_t buffered_bytes{
        std::size_t{1}
        << 20U}; ///< per AMQP session: messages taken from a queue that the peer does not read
    std::size_t unread_answers{std::size_t{16}
                               << 20U}; ///< per AMQP session: answers the peer does not read, in
                                        ///< bytes; beyond, its request link is closed
    std::uint32_t send_credit{200};     ///< messages a sender may have on their way
};

} // namespace sessionq::server
