#pragma once

#include <cstdint>
#include <string>

#include <sessionq/time.hpp>

#include "amqp/link.hpp"
#include "broker/consumer.hpp"
#include "server/session_filter.hpp"

namespace sessionq::server {

/// How long an accept waits whose client names no time.
inline constexpr Duration default_accept_wait = std::chrono::seconds{65};

/// What a peer wants with the link it attaches.
struct AttachDecision {
    enum class What : std::uint8_t { refuse, claims, management, send, receive };

    What what{What::refuse};
    amqp::Condition refusal{};
    std::string entity{};                                     ///< management, send and receive
    broker::ReceiveMode mode{broker::ReceiveMode::peek_lock}; ///< receive
    SessionFilter session{};                                  ///< receive
    Duration wait{default_accept_wait};                       ///< receive: how long for a session
};

/// Decides from the peer's attach alone. `peer_receives`: its role.
[[nodiscard]] AttachDecision decide_attach(const amqp::Attach& attach, bool peer_receives);

/// Whether an entity can be received from in this way; an empty condition: yes.
[[nodiscard]] amqp::Condition check_receive(const AttachDecision& decision, bool requires_session);

/// The answer that echoes what the peer sent: clients compare, and some act on the answer alone.
[[nodiscard]] amqp::Attach echo_attach(const amqp::Attach& attach, std::uint64_t max_message_size);

} // namespace sessionq::server
