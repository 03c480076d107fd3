// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sessionq::server {

class ResponseLink;

/// Routes responses to the response links of one connection. Clients name the reply link by its
/// target address, by its name, or not at all.
class ReplyRoutes {
public:
    struct Route {
        std::string node{};    ///< the node whose answers it reads
        const void* session{}; ///< the AMQP session it is on
        std::string address{}; ///< its target address
        std::string name{};
        ResponseLink* link{nullptr};
    };

    void add(Route route) { routes_.push_back(std::move(route)); }
    void remove(const ResponseLink& link) {
        std::erase_if(routes_, [&](const Route& route) { return route.link == &link; });
    }

    /// Returns the node's link with `reply_to` as its target, else as its name, else the newest on
    /// the requester's session. Returns null if there is none.
    [[nodiscard]] ResponseLink* find(std::string_view node, std::string_view reply_to,
                                     const void* session) const;

private:
    std::vector<Route> routes_{}; // the newest last
};

} // namespace sessionq::server
