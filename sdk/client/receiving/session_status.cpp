// SPDX-License-Identifier: MIT
#include "client/receiving/session_status.hpp"

#include <utility>

#include "client/receiving/session_receiver_core.hpp"

namespace sessionq::detail::client {

SessionStatus::SessionStatus(core::EventLoop& loop, std::string entity, std::string session_id,
                             ports::Scope scope)
    : loop_{loop}, entity_{std::move(entity)}, session_id_{std::move(session_id)}, scope_{scope} {}

std::optional<Failure> SessionStatus::loss() const {
    const std::lock_guard lock{loss_mutex_};
    return loss_;
}

void SessionStatus::set_loss(const Failure& why) {
    const std::lock_guard lock{loss_mutex_};
    if (!loss_) {
        loss_ = why;
    }
}

void SessionStatus::fire_stop(core::Executor& notifier) {
    notifier.post([stop = stop_]() mutable { stop.request_stop(); });
}

void SessionStatus::give_back() noexcept {
    if (!given_back_.exchange(true)) {
        set_loss(closed()); // now, so that messages need not wait for the loop
        loop_.post([status = shared_from_this()] {
            if (status->receiver() != nullptr) {
                status->receiver()->close(nullptr);
            }
        });
    }
}

} // namespace sessionq::detail::client
