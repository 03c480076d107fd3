// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>

#include "ports/endpoint.hpp"
#include "servicebus/pooled_link.hpp"

namespace sessionq::detail::servicebus {

/// Names a held session at its broker, or a link to an entity without sessions.
struct SessionAddress {
    std::string entity{};
    std::string session_id{}; ///< without sessions: empty
    std::string link_name{};
    ports::Scope scope{ports::Scope::session};

    /// For error texts.
    [[nodiscard]] std::string title() const {
        return scope == ports::Scope::session ? "session '" + session_id + "'"
                                              : "the link to '" + entity + "'";
    }
};

/// The requests of one held session to the $management of its entity. Destroying it gives them up
/// and drops their handlers. Bound to the loop.
class SessionRequests {
public:
    using Handler = RequestChannel::Handler;

    SessionRequests(const PooledLink& link, SessionAddress address)
        : link_{link}, address_{std::move(address)} {}
    ~SessionRequests();
    SessionRequests(const SessionRequests&) = delete;
    SessionRequests& operator=(const SessionRequests&) = delete;

    [[nodiscard]] const SessionAddress& address() const noexcept { return address_; }

    /// Only while the connection is there.
    ports::RequestId ask(std::string operation, amqp::Map body, Deadline deadline, Handler handler);
    void give_up(ports::RequestId id);

private:
    const PooledLink& link_;
    const SessionAddress address_;
    std::map<ports::RequestId, Handler> handlers_{};
    const core::Anchor<SessionRequests> anchor_{*this};
};

} // namespace sessionq::detail::servicebus
