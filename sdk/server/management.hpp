#pragma once

#include "server/peer.hpp"
#include "server/request.hpp"

namespace sessionq::server {

/// What an entity's `$management` node does. Each request is answered at once.
class Management {
public:
    Management(Peer& peer, broker::QueuePtr queue) : peer_{peer}, queue_{std::move(queue)} {}

    [[nodiscard]] Answer answer(const Request& request);

private:
    struct Operation;
    static const Operation operations[];

    Answer renew_lock(const Request& request);
    Answer peek(const Request& request);
    Answer schedule(const Request& request);
    Answer cancel_scheduled(const Request& request);
    Answer renew_session_lock(const Request& request);
    Answer set_session_state(const Request& request);
    Answer get_session_state(const Request& request);
    Answer list_sessions(const Request& request);
    Answer receive_by_sequence(const Request& request);
    Answer update_disposition(const Request& request);
    Answer enumerate_rules(const Request& request);
    Answer add_rule(const Request& request);
    Answer remove_rule(const Request& request);

    /// The session the request names, or whose receiver it names; null: none of that kind is held by this peer.
    [[nodiscard]] const Holder* held_session(const Request& request) const;

    Peer& peer_;
    const broker::QueuePtr queue_;
};

} // namespace sessionq::server
