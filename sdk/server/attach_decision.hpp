// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include <sessionq/time.hpp>

#include "amqp/engine/link.hpp"
#include "broker/consumer.hpp"
#include "server/session_filter.hpp"

namespace sessionq::server {

/// The wait of an accept if the client names no timeout.
inline constexpr Duration default_accept_wait = std::chrono::seconds{65};

/// The purpose of a link that a peer attaches.
struct AttachDecision {
    enum class What : std::uint8_t {
        refuse,
        claims,
        management,
        send,
        receive,
        browse,  ///< the source's distribution-mode is `copy`
        transact ///< the target is a transaction coordinator
    };

    What what{What::refuse};
    amqp::Condition refusal{};
    std::string entity{}; ///< for management, send, receive and browse
    broker::ReceiveMode mode{broker::ReceiveMode::peek_lock}; ///< for receive
    SessionFilter session{};                                  ///< for receive and browse
    /// for receive: how long to wait for a session
    Duration wait{default_accept_wait};
    /// for receive: consumers with a higher one are served first. The link property "priority", as
    /// Artemis and Qpid read it.
    int priority{0};
};

/// Decides from the peer's attach alone. `peer_receives` is the peer's role.
[[nodiscard]] AttachDecision decide_attach(const amqp::Attach& attach, bool peer_receives);

/// Returns why the entity cannot be received from in this way, or an empty condition.
[[nodiscard]] amqp::Condition check_receive(const AttachDecision& decision, bool requires_session);

/// For links on which this side sends: stored messages are delivered, with all that is added to
/// them. A limit would bind this side (AMQP 1.0 part 2, section 2.7.3).
inline constexpr std::uint64_t unlimited_messages = 0;

/// Returns an attach that echoes the peer's. Clients compare the two, and some read only the
/// answer.
[[nodiscard]] amqp::Attach echo_attach(const amqp::Attach& attach, std::uint64_t max_message_size);

} // namespace sessionq::server
