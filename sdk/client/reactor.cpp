#include "client/reactor.hpp"

namespace sessionq::client {

bool Reactor::poll_one() {
    context_.restart(); // an interrupt that came while the thread was awake has nothing to end
    return context_.poll_one() != 0;
}

void Reactor::wait(std::optional<TimePoint> until) {
    // A timer that is early wakes for nothing once; moving it with every change would cost a system call each time.
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
