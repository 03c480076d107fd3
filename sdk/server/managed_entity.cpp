#include "server/managed_entity.hpp"

#include "server/request_fields.hpp"

namespace sessionq::server {

const Holder* ManagedEntity::held_session(const Request& request) const {
    if (const auto session_id = read_text(request.body, "session-id")) {
        return peer.locks.of_session(*queue, *session_id);
    }
    const Holder* holder = peer.locks.of_link(*queue, request.text("associated-link-name"));
    return holder != nullptr && holder->consumer->has_session ? holder : nullptr;
}

} // namespace sessionq::server
