// SPDX-License-Identifier: MIT
#include "timing/timer_service.hpp"

namespace sessionq::timing {

TimerService::TimerService(core::Executor& executor, TimePoint start)
    : executor_{executor}, wheel_{start}, self_{std::make_shared<TimerService*>(this)} {}

TimerService::~TimerService() {
    *self_ = nullptr;
    while (expired_.pop_front() != nullptr) {
    }
}

void TimerService::cancel(Timer& timer) noexcept {
    if (timer.wheel_ != nullptr) {
        wheel_.cancel(timer);
    } else {
        timer.unlink();
    }
}

void TimerService::advance(TimePoint now) {
    wheel_.advance(now, expired_);
    if (is_posted_ || expired_.empty()) {
        return;
    }
    executor_.post([self = self_] { run_expired(self); });
    is_posted_ = true;
}

std::size_t TimerService::size() const noexcept {
    std::size_t count = wheel_.size();
    for (const Timer* timer = expired_.front(); timer != nullptr; timer = expired_.next(*timer)) {
        ++count;
    }
    return count;
}

void TimerService::run_expired(const Self& self) {
    if (*self != nullptr) {
        (*self)->is_posted_ = false;
    }
    // A callback may cancel or destroy later timers and the service itself, so re-read everything.
    while (*self != nullptr) {
        Timer* timer = (*self)->expired_.pop_front();
        if (timer == nullptr) {
            return;
        }
        timer->run();
    }
}

} // namespace sessionq::timing
