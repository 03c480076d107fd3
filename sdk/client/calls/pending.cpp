// SPDX-License-Identifier: MIT
#include "client/calls/pending.hpp"

#include "timing/timer_service.hpp"

namespace sessionq::detail::client {

PendingBase::PendingBase(core::EventLoop& loop, Deadline deadline)
    : loop_{loop}, deadline_{deadline} {}

void PendingBase::cancel() {
    if (auto weak = weak_from_this(); !weak.expired()) {
        loop_.post([weak = std::move(weak)] {
            if (const auto self = weak.lock()) {
                self->give_up(Errc::cancelled);
            }
        });
    }
}

bool PendingBase::begin() {
    if (deadline_.passed(loop_.now())) {
        give_up(Errc::timeout);
    }
    if (context_.stop().stop_requested()) {
        give_up(Errc::cancelled);
    }
    if (ended()) {
        return false;
    }
    // Registers the callback here, on the loop, because the loop may end the operation and then
    // destroys the callback. It must not destroy a callback that another thread is still
    // registering.
    if (context_.stop().stop_possible()) {
        stop_callback_.emplace(context_.stop(), Canceller{this});
    }
    if (!deadline_.is_never()) {
        loop_.timers().arm(timer_, deadline_.time());
    }
    return true;
}

void PendingBase::give_up(Errc why) {
    const auto kept = shared_from_this(); // giving up may drop the last other reference
    switch (machine_.give_up(why)) {
    case PendingMachine::GiveUp::nothing: break;
    case PendingMachine::GiveUp::answer:
        release();
        answer_given_up(why);
        break;
    case PendingMachine::GiveUp::at_port: std::exchange(port_gives_up_, nullptr)(); break;
    }
}

void PendingBase::ask_port(std::function<void()> give_up) {
    if (machine_.ask_port()) {
        port_gives_up_ = std::move(give_up);
    }
}

bool PendingBase::end() noexcept {
    if (!machine_.end()) {
        return false;
    }
    release();
    return true;
}

void PendingBase::release() noexcept {
    port_gives_up_ = nullptr;
    if (timer_.is_armed()) {
        loop_.timers().cancel(timer_);
    }
    stop_callback_.reset();
}

} // namespace sessionq::detail::client
