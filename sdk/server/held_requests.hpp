// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>

#include "server/peer.hpp"
#include "server/request.hpp"

namespace sessionq::server {

/// The requests of a link whose answer waits for a message. Each is given back once: when there may
/// be a message, when its time is over, or when its entity is deleted. Destroying this drops the
/// rest. Bound to the connection's loop.
class HeldRequests {
public:
    /// `deletion` is null unless the entity was deleted. May destroy this.
    using GiveBack = std::function<void(Request request, TimePoint until, const Failure* deletion)>;

    HeldRequests(Peer& peer, GiveBack give_back);
    ~HeldRequests();
    HeldRequests(const HeldRequests&) = delete;
    HeldRequests& operator=(const HeldRequests&) = delete;

    /// Holds a request until there is a message, at most until `until`. Returns false if the
    /// request is too large, or the connection has too many.
    [[nodiscard]] bool hold(const Request& request, const Hold& hold, TimePoint until);

private:
    class Target;
    struct Held;
    using Number = std::uint64_t;

    void give_back(Number number, const Failure* deletion);

    Peer& peer_;
    const GiveBack give_back_;
    std::unordered_map<Number, std::unique_ptr<Held>> held_;
    Number last_{0};
};

} // namespace sessionq::server
