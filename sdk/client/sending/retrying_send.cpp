// SPDX-License-Identifier: MIT
#include "client/sending/retrying_send.hpp"

#include <utility>

#include "timing/timer_service.hpp"

namespace sessionq::detail::client {

RetryingSend::RetryingSend(ports::Endpoint& endpoint, WaitingTries& waiting,
                           ports::SendRequest request, SendRetry retry,
                           PendingPtr<SequenceNumbers> pending, ClientMeters& meters)
    : endpoint_{endpoint},
      waiting_{waiting},
      request_{std::move(request)},
      retry_{std::move(retry)},
      pending_{std::move(pending)},
      meters_{meters},
      timer_{timing::Timer::calling<&RetryingSend::try_once>(this)} {}

void RetryingSend::begin() {
    try_once();
    pending_->ask_port([weak = weak_from_this()] {
        if (const auto self = weak.lock()) {
            self->give_up();
        }
    });
}

void RetryingSend::try_once() {
    const auto self = shared_from_this();
    waiting_.remove(self);
    asked_ = endpoint_.send(request_, measured_send(meters_, endpoint_.loop(), request_.size(),
                                                    [self](core::Result<SequenceNumbers> answer) {
                                                        self->answered(std::move(answer));
                                                    }));
}

void RetryingSend::answered(core::Result<SequenceNumbers> answer) {
    if (answer) {
        pending_->complete(std::move(answer));
        return;
    }
    const TimePoint now = endpoint_.loop().now();
    if (const auto next = retry_.failed(answer.failure(), now, request_.deadline)) {
        waiting_.add(shared_from_this());
        endpoint_.loop().timers().arm(timer_, *next);
    } else {
        pending_->complete(retry_.last_failure());
    }
}

void RetryingSend::give_up() {
    retry_.give_up();
    if (timer_.is_armed()) {
        end();
    } else {
        endpoint_.give_up(asked_);
    }
}

void RetryingSend::end() {
    const auto self = shared_from_this();
    endpoint_.loop().timers().cancel(timer_);
    Failure why = retry_.last_failure();
    why.code = Errc::cancelled;
    waiting_.remove(self);
    pending_->complete(std::move(why));
}

void WaitingTries::end_all() {
    while (!sends_.empty()) {
        const std::shared_ptr<RetryingSend> first = *sends_.begin();
        first->end();
    }
}

} // namespace sessionq::detail::client
