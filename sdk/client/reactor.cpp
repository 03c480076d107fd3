// SPDX-License-Identifier: MIT
#include "client/reactor.hpp"

namespace sessionq::client {

bool Reactor::poll_one() {
    context_.restart(); // clears an interrupt that came while the thread was awake
    return context_.poll_one() != 0;
}

void Reactor::wait(std::optional<TimePoint> until) {
    // An early timer costs one needless wake-up. Moving it would cost a system call per change.
    if (until && (!armed_ || *until < *armed_)) {
        arm(*until);
    }
    context_.run_one();
    context_.restart();
}

void Reactor::arm(TimePoint until) {
    armed_ = until;
    timer_.expires_at(until);
    timer_.async_wait([this](const asio::error_code& moved) {
        if (!moved) {
            armed_.reset();
        }
    });
}

} // namespace sessionq::client
