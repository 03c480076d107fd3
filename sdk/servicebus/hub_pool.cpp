#include "servicebus/hub_pool.hpp"

#include <algorithm>
#include <utility>

namespace sessionq::servicebus {

HubPool::HubPool(core::EventLoop& loop, asio::io_context& io, HubSettings settings)
    : host_{std::make_shared<amqp::ConnectionHost>(loop, io)}, settings_{std::move(settings)} {
    hubs_.push_back(std::make_shared<Hub>(host_, settings_));
}

std::shared_ptr<Hub> HubPool::for_session() {
    const auto found =
        std::find_if(hubs_.begin(), hubs_.end(), [](const auto& hub) { return hub->has_room(); });
    if (found == hubs_.end()) {
        ++settings_.seed; // their backoffs are not to agree
        return hubs_.emplace_back(std::make_shared<Hub>(host_, settings_));
    }
    std::shared_ptr<Hub> chosen = *found;
    const auto is_over = [&](const auto& hub) {
        return hub != hubs_.front() && hub != chosen && hub->is_unused();
    };
    for (const auto& hub : hubs_) {
        if (is_over(hub)) {
            hub->close();
        }
    }
    hubs_.erase(std::remove_if(hubs_.begin() + 1, hubs_.end(), is_over), hubs_.end());
    return chosen;
}

void HubPool::close() {
    for (const auto& hub : hubs_) {
        hub->close();
    }
}

} // namespace sessionq::servicebus
