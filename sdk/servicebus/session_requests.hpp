#pragma once

#include <map>
#include <string>

#include "servicebus/pooled_link.hpp"

namespace sessionq::servicebus {

/// Names a held session at its broker.
struct SessionAddress {
    std::string entity{};
    std::string session_id{};
    std::string link_name{};
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

} // namespace sessionq::servicebus
