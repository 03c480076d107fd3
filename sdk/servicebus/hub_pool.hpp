#pragma once

#include <memory>
#include <vector>

#include "servicebus/hub.hpp"

namespace sessionq::servicebus {

/// The connections of an endpoint: the first for everything, more of them for the sessions that the
/// first has no channels for. Bound to the loop.
class HubPool {
public:
    HubPool(core::EventLoop& loop, asio::io_context& io, HubSettings settings);
    HubPool(const HubPool&) = delete;
    HubPool& operator=(const HubPool&) = delete;

    [[nodiscard]] const std::shared_ptr<Hub>& first() const noexcept { return hubs_.front(); }
    [[nodiscard]] std::size_t size() const noexcept { return hubs_.size(); }

    /// One with room for a session, the earliest made, so that the later ones run empty; those that
    /// have are closed.
    [[nodiscard]] std::shared_ptr<Hub> for_session();

    void close();

private:
    const std::shared_ptr<amqp::ConnectionHost> host_;
    HubSettings settings_;
    std::vector<std::shared_ptr<Hub>> hubs_{};
};

} // namespace sessionq::servicebus
