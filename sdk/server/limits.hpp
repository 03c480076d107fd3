// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include <sessionq/time.hpp>

#include "amqp/admission.hpp"

namespace sessionq::server {

/// Bounds on the memory that is kept for peers: their buffers, messages on their way, answers,
/// sessions, links and claims. Not for messages that a queue has confirmed. All in bytes, above
/// zero.
struct MemoryLimits {
    /// For all connections. Where it is exceeded, the connection that takes most is closed. Under
    /// attack the process grows by half as much again, and is to stay within 64 MiB.
    std::size_t all{std::size_t{36} << 20U};
    /// For one connection. It must hold the largest message that the peer may send, and the answer
    /// to it.
    std::size_t connection{std::size_t{9} << 20U};
    /// For the messages of one batch, within that of its connection. Each takes
    /// `BatchDecoder::message_bytes` beside its bytes, so many small ones take more than the batch.
    /// Their number has no other bound.
    std::size_t batch{std::size_t{6} << 20U};
    /// For all connections that have not proved a right. As many handshakes as are admitted fit.
    std::size_t unclaimed{std::size_t{24} << 20U};
    /// For one of them. An honest client needs less than 128 KiB until its first claim.
    std::size_t unclaimed_connection{std::size_t{512} << 10U};
};

/// Bounds on the resources that peers may use. All are above zero.
struct Limits {
    /// From the connection to the peer's open.
    Duration handshake_time{std::chrono::seconds{20}};
    /// From the open to the first accepted token.
    Duration claim_time{std::chrono::seconds{20}};
    /// How long a connection pauses after a wrong key or token. Newcomers are few, so one address
    /// gets 64 guesses a second at most.
    Duration pause_after_guess{std::chrono::seconds{1}};
    /// Silence after which the connection is closed. The open asks for half of it, like Service
    /// Bus.
    Duration idle_time{std::chrono::minutes{8}};
    amqp::AdmissionLimits admission{};
    MemoryLimits memory{};
    /// Bytes that a peer may send before a token is accepted. A token takes a few hundred.
    std::uint64_t bytes_before_claim{std::uint64_t{256} << 10U};
    /// Links of a connection before a token is accepted.
    std::size_t links_before_claim{16};
    /// AMQP sessions of a connection before a token is accepted.
    std::size_t sessions_before_claim{8};
    /// Links of a connection.
    std::size_t links{10000};
    /// The highest channel: AMQP sessions of a connection, less one.
    std::uint16_t channel_max{4999};
    /// Length of a link's name, and of the addresses in its attach. The paths of Service Bus's
    /// entities have at most 260 characters, and clients add a few.
    std::size_t name_bytes{std::size_t{2} << 10U};
    /// Claims of a connection, each for another audience. Service Bus has no entity for more.
    std::size_t claims{10000};
    /// Length of an audience. The path of an entity has at most 260 characters at Service Bus.
    std::size_t audience_bytes{std::size_t{2} << 10U};
    /// Size of a frame; at least 512.
    std::uint32_t frame_bytes{65536};
    /// Deliveries of one disposition, or links of a connection that ends, that are told in one go.
    /// Half a millisecond for links.
    std::size_t told_at_once{250};
    /// Links that are released in one go where a connection has lost its place. Less than a
    /// millisecond.
    std::size_t released_at_once{100};
    /// Messages of a batch or a request that are decoded in one go. Half a millisecond.
    std::size_t decoded_at_once{250};
    /// Unsent bytes of a connection beyond which its peer is not read.
    std::size_t unsent_bytes{std::size_t{256} << 10U};
    /// Size of a request to $cbs, which needs no rights.
    std::size_t claim_bytes{std::size_t{64} << 10U};
    /// Size of a request to a $management node.
    std::size_t request_bytes{std::size_t{8} << 20U};
    /// Bytes of messages, per AMQP session, that are taken from queues and not read by the peer
    /// yet.
    std::size_t buffered_bytes{std::size_t{1} << 20U};
    /// Bytes of a connection that wait for credit or room, beyond which its requests wait too. A
    /// client that grants credit and reads never meets it.
    std::size_t unread_answers{std::size_t{1} << 20U};
    /// Bytes of deferred messages in one answer, if they are several. On its way an answer takes up
    /// to four times as much, which the connection's memory must hold.
    std::size_t answered_bytes{std::size_t{2} << 20U};
    /// Requests of a connection that wait for a message at the same time. Others are answered at
    /// once.
    std::size_t held_requests{100};
    /// Size of a request that may wait.
    std::size_t held_request_bytes{std::size_t{4} << 10U};
    /// How long a request waits for a message.
    Duration held_time{std::chrono::seconds{60}};
    /// Messages that a sender may have in transit.
    std::uint32_t send_credit{200};
    /// Sessions in one answer. Clients may take a page that is not full for the last one, so it is
    /// not below the pages that they ask for: 1,000 by ours, 100 by Azure's.
    std::size_t sessions_per_page{1000};
    /// Rules in one answer. A rule takes up to three kilobytes, and Azure's clients ask for 100.
    std::size_t rules_per_page{250};
    /// Size of a message's properties, its own and the application's. Azure Service Bus takes as
    /// much. Rules, which read them, then take a bounded time.
    std::size_t property_bytes{std::size_t{64} << 10U};
    /// Bytes of a queue: its messages, dead-lettered ones too, the states of sessions, and the ids
    /// that duplicate detection remembers. Of a topic: also all bytes in its subscriptions, each
    /// copy. Where the entity names no bound of its own. Azure Service Bus has the same default.
    /// Zero: no bound.
    std::uint64_t queue_bytes{std::uint64_t{1} << 30U};
    /// Size of one application property. Azure Service Bus takes as much.
    std::size_t property_value_bytes{std::size_t{32} << 10U};
    /// Messages, sequence numbers or lock tokens in one request.
    std::size_t items_per_request{4500};
};

} // namespace sessionq::server
