// SPDX-License-Identifier: MIT
#include "simulation/virtual_worker.hpp"

#include <algorithm>

namespace sessionq::simulation {
namespace {

thread_local VirtualWorker* stepping = nullptr;

} // namespace

VirtualWorker::VirtualWorker(Environment& environment, dispatch::Dispatcher& dispatcher,
                             std::size_t number)
    : environment_{&environment}, dispatcher_{&dispatcher}, number_{number} {
    environment.scheduler.add(*this);
}

VirtualWorker::~VirtualWorker() { environment_->scheduler.remove(*this); }

VirtualWorker* VirtualWorker::current() noexcept { return stepping; }

bool VirtualWorker::runnable() const {
    switch (state_) {
    case State::asleep: return false;
    case State::taken: return environment_->scheduler.now() >= wait_until_;
    case State::running:
        return environment_->scheduler.now() >= wait_until_ || (condition_ && condition_());
    case State::looking:
    case State::returned: return true;
    }
    return false;
}

TimePoint VirtualWorker::next_due() const {
    switch (state_) {
    case State::asleep: return TimePoint::max();
    case State::taken:
    case State::running: return wait_until_;
    case State::looking:
    case State::returned: return environment_->scheduler.now();
    }
    return TimePoint::max();
}

void VirtualWorker::step() {
    stepping = this;
    switch (state_) {
    case State::looking: look(); break;
    case State::taken:
        state_ = State::running;
        fiber_.start([this] { verdict_ = call_->run(); });
        break;
    case State::running: fiber_.resume(); break;
    case State::returned:
        call_ = nullptr;
        environment_->taken_calls.give_back(number_of_call_);
        taken(dispatcher_->finish(turn_, verdict_, environment_->scheduler.now()));
        break;
    case State::asleep: break;
    }
    if (state_ == State::running && fiber_.idle()) {
        state_ = State::returned;
    }
    stepping = nullptr;
}

void VirtualWorker::look() {
    dispatch::Call* call = dispatcher_->take(turn_, environment_->scheduler.now());
    if (call != nullptr) {
        taken(call);
        return;
    }
    state_ = State::asleep;
    if (dispatcher_->has_work()) {
        state_ = State::looking;
    }
}

void VirtualWorker::taken(dispatch::Call* call) {
    call_ = call;
    state_ = call != nullptr ? State::taken : State::looking;
    if (call != nullptr) {
        number_of_call_ = environment_->taken_calls.take();
    }
    // Sometimes the thread is preempted between taking a call and running it.
    wait_until_ = environment_->scheduler.now() +
                  (environment_->chance(3)
                       ? environment_->scheduler.between(milliseconds{1}, milliseconds{20})
                       : Duration::zero());
}

void VirtualWorker::wait(TimePoint when, std::function<bool()> condition) {
    wait_until_ = when;
    condition_ = std::move(condition);
    Fiber::pause();
    condition_ = nullptr;
}

VirtualPool::VirtualPool(Environment& environment, dispatch::Dispatcher& dispatcher,
                         std::size_t workers)
    : environment_{&environment} {
    dispatcher.set_wake([this](std::size_t work) { wake(work); });
    for (std::size_t i = 0; i < workers; ++i) {
        workers_.push_back(std::make_unique<VirtualWorker>(environment, dispatcher, i));
        workers_.back()->weight =
            1 + static_cast<std::uint32_t>(environment.scheduler.random().below(4));
    }
}

void VirtualPool::wake(std::size_t work) {
    const std::size_t first = environment_->scheduler.random().below(workers_.size());
    for (std::size_t i = 0; i < workers_.size() && work > 0; ++i) {
        VirtualWorker& worker = *workers_[(first + i) % workers_.size()];
        if (worker.asleep()) {
            worker.wake();
            --work;
        }
    }
}

void VirtualPool::freeze() {
    for (const auto& worker : workers_) {
        environment_->scheduler.remove(*worker);
    }
}

void VirtualPool::thaw() {
    for (const auto& worker : workers_) {
        environment_->scheduler.add(*worker);
    }
}

bool VirtualPool::any_busy() const {
    return std::any_of(workers_.begin(), workers_.end(),
                       [](const auto& worker) { return worker->busy(); });
}

} // namespace sessionq::simulation
