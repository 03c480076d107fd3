// SPDX-License-Identifier: MIT
#include "broker/forwarding_line.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sessionq::broker {

void ForwardingLine::add(std::vector<Transit>& leaving) {
    added_ += leaving.size();
    std::ranges::move(leaving, std::back_inserter(leaving_));
    leaving.clear();
}

bool ForwardingLine::begin() noexcept {
    if (leaving_.empty() || !is_idle()) {
        return false;
    }
    state_.store(State::forwarding, std::memory_order_release);
    return true;
}

bool ForwardingLine::resume() noexcept {
    if (state_.load(std::memory_order_relaxed) != State::put_down) {
        return false;
    }
    state_.store(State::forwarding, std::memory_order_release);
    due_ = TimePoint::max();
    return true;
}

void ForwardingLine::put_down(TimePoint due) noexcept {
    state_.store(State::put_down, std::memory_order_release);
    due_ = due;
}

std::vector<Transit> ForwardingLine::take() {
    if (leaving_.empty()) {
        state_.store(State::idle, std::memory_order_release);
    }
    return std::exchange(leaving_, {});
}

std::vector<ForwardingLine::Done> ForwardingLine::end(std::size_t count) {
    ended_ += count;
    std::vector<Done> told;
    for (; !waiting_.empty() && waiting_.front().until <= ended_; waiting_.pop_front()) {
        told.push_back(std::move(waiting_.front().done));
    }
    return told;
}

void ForwardingLine::hold(Transit transit) {
    transit.is_held = false;
    held_.push_back(std::move(transit));
}

void ForwardingLine::release_held() {
    std::ranges::move(held_, std::back_inserter(leaving_));
    held_.clear();
}

bool ForwardingLine::await(Done done) {
    if (ended_ == added_) {
        return false;
    }
    waiting_.push_back({added_, std::move(done)});
    return true;
}

std::vector<ForwardingLine::Done> ForwardingLine::give_up() {
    std::vector<Done> told;
    for (Waiting& waiting : std::exchange(waiting_, {})) {
        told.push_back(std::move(waiting.done));
    }
    return told;
}

} // namespace sessionq::broker
