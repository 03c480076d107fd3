#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sessionq::server {

class ResponseLink;

/// Where the answers of one connection's requests go: clients name the way back by a link's target
/// address, by its name, or not at all.
class ReplyRoutes {
public:
    struct Route {
        std::string node{};    ///< what it reads the answers of
        const void* session{}; ///< the AMQP session it is on
        std::string address{}; ///< its target's
        std::string name{};
        ResponseLink* link{nullptr};
    };

    void add(Route route) { routes_.push_back(std::move(route)); }
    void remove(const ResponseLink& link) {
        std::erase_if(routes_, [&](const Route& route) { return route.link == &link; });
    }

    /// The link of that node whose target is `reply_to`, else whose name it is, else the newest on
    /// the asker's session. Null: there is none.
    [[nodiscard]] ResponseLink* find(std::string_view node, std::string_view reply_to,
                                     const void* session) const;

private:
    std::vector<Route> routes_{}; // the newest last
};

} // namespace sessionq::server
