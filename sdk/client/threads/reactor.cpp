// SPDX-License-Identifier: MIT
#include "client/threads/reactor.hpp"

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

namespace sessionq::client {

struct Reactor::Parts {
    void arm(TimePoint until);

    asio::io_context context{1};
    asio::executor_work_guard<asio::io_context::executor_type> guard{context.get_executor()};
    asio::steady_timer timer{context};
    std::optional<TimePoint> armed{};
};

void Reactor::Parts::arm(TimePoint until) {
    armed = until;
    timer.expires_at(until);
    timer.async_wait([this](const asio::error_code& moved) {
        if (!moved) {
            armed.reset();
        }
    });
}

Reactor::Reactor() : parts_{std::make_unique<Parts>()} {}

Reactor::~Reactor() = default;

asio::io_context& Reactor::context() noexcept { return parts_->context; }

bool Reactor::poll_one() {
    parts_->context.restart(); // clears an interrupt that came while the thread was awake
    return parts_->context.poll_one() != 0;
}

void Reactor::wait(std::optional<TimePoint> until) {
    // An early timer costs one needless wake-up. Moving it would cost a system call per change.
    if (until && (!parts_->armed || *until < *parts_->armed)) {
        parts_->arm(*until);
    }
    parts_->context.run_one();
    parts_->context.restart();
}

void Reactor::interrupt() noexcept { parts_->context.stop(); }

} // namespace sessionq::client
