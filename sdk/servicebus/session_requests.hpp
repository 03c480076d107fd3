#pragma once

#include <functional>
#include <map>
#include <string>

#include "servicebus/broker_connection.hpp"

namespace sessionq::servicebus {

/// The requests of one held session to the $management of its entity. Destroying it gives them up
/// and drops their handlers. Bound to the loop.
class SessionRequests {
public:
    using Handler = RequestChannel::Handler;

    SessionRequests(BrokerConnection& connection, std::string entity, std::string session_id,
                    std::string link_name);
    ~SessionRequests();
    SessionRequests(const SessionRequests&) = delete;
    SessionRequests& operator=(const SessionRequests&) = delete;

    /// Only while the connection is there.
    ports::RequestId ask(std::string operation, amqp::Map body, Deadline deadline, Handler handler);
    void give_up(ports::RequestId id);

private:
    void answer(ports::RequestId id, core::Result<Response> result);

    BrokerConnection& connection_; // while `alive_` says so
    const core::WeakHandle<BrokerConnection> alive_;
    const std::string entity_;
    const std::string session_id_;
    const std::string link_name_;
    std::map<ports::RequestId, Handler> handlers_{};
    const core::Anchor<SessionRequests> anchor_{*this};
};

} // namespace sessionq::servicebus
