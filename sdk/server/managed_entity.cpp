// SPDX-License-Identifier: MIT
#include "server/managed_entity.hpp"

#include "server/request_fields.hpp"

namespace sessionq::server {

const Holder* ManagedEntity::held_session(const Request& request) const {
    const std::string_view link = request.text("associated-link-name");
    if (const auto session_id = read_text(request.body, "session-id")) {
        const Holder* holder = peer.locks.of_session(*queue, *session_id);
        // A link that has lost the session may not act for the link that holds it now.
        return holder != nullptr && (link.empty() || holder->link == link) ? holder : nullptr;
    }
    const Holder* holder = peer.locks.of_link(*queue, link);
    return holder != nullptr && holder->consumer->has_session ? holder : nullptr;
}

} // namespace sessionq::server
