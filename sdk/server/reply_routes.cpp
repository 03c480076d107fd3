// SPDX-License-Identifier: MIT
#include "server/reply_routes.hpp"

#include <algorithm>

namespace sessionq::server {

ResponseLink* ReplyRoutes::find(std::string_view node, std::string_view reply_to,
                                const void* session) const {
    const auto newest = [&](auto is_it) -> ResponseLink* {
        const auto found = std::find_if(routes_.rbegin(), routes_.rend(), [&](const Route& route) {
            return route.node == node && is_it(route);
        });
        return found != routes_.rend() ? found->link : nullptr;
    };
    if (!reply_to.empty()) {
        if (ResponseLink* link =
                newest([&](const Route& route) { return route.address == reply_to; })) {
            return link;
        }
        if (ResponseLink* link =
                newest([&](const Route& route) { return route.name == reply_to; })) {
            return link;
        }
    }
    return newest([&](const Route& route) { return route.session == session; });
}

} // namespace sessionq::server
