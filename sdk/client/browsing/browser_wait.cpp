// SPDX-License-Identifier: MIT
#include "client/browsing/browser_wait.hpp"

#include <utility>

#include "timing/timer_service.hpp"

namespace sessionq::detail::client {

BrowserWait::BrowserWait(ports::Endpoint& endpoint, ports::PeekRequest request,
                         PendingPtr<Messages> pending)
    : endpoint_{endpoint}, request_{std::move(request)}, pending_{std::move(pending)} {
    request_.deadline = pending_->deadline();
}

void BrowserWait::start() {
    pending_->ask_port([self = shared_from_this()] { self->give_up(); });
    ask();
}

void BrowserWait::ask() {
    asked_ = pending_->loop().now();
    request_.wait = request_.deadline.remaining(asked_);
    phase_ = Phase::asking;
    under_way_ =
        endpoint_.peek(request_, [self = shared_from_this()](core::Result<Messages> answer) {
            self->on_answer(std::move(answer));
        });
}

void BrowserWait::on_answer(core::Result<Messages> answer) {
    if (!answer || !answer.value().empty()) {
        pending_->complete(std::move(answer));
    } else if (phase_ == Phase::given_up) {
        pending_->complete(Failure{.code = Errc::cancelled});
    } else { // ends at the operation's deadline
        phase_ = Phase::pausing;
        pending_->loop().timers().arm(timer_, spacing_.next(asked_));
    }
}

void BrowserWait::give_up() {
    if (std::exchange(phase_, Phase::given_up) == Phase::asking) {
        endpoint_.give_up(under_way_);
    } else {
        pending_->complete(Failure{.code = Errc::cancelled});
    }
}

} // namespace sessionq::detail::client
