// SPDX-License-Identifier: MIT
#include "groups/accept_queue.hpp"

#include <algorithm>
#include <utility>

namespace sessionq::groups {

struct AcceptQueue::Place final : ports::Asking {
    Place(AcceptQueue& in, ports::RequestId number, Kind what)
        : queue{&in}, id{number}, kind{what} {}
    ~Place() override {
        if (queue != nullptr) {
            queue->leave(*this);
        }
    }
    [[nodiscard]] Failure none() const override { return queue->none_; }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    AcceptQueue* queue; // null once the accept is answered, or the queue is gone
    const ports::RequestId id;
    Kind kind;
};

AcceptQueue::~AcceptQueue() {
    for (Place* const each : places_) {
        each->queue = nullptr;
    }
}

void AcceptQueue::add(ports::RequestId id, Deadline until) {
    add(id);
    book_.wait(id, until);
}

void AcceptQueue::add(ports::RequestId id, Kind kind) {
    auto made = std::make_unique<Place>(*this, id, kind);
    places_.push_back(made.get());
    book_.ask(id, std::move(made));
}

void AcceptQueue::leave(const Place& place) {
    std::erase(places_, &place);
    ended_();
}

bool AcceptQueue::has_probes() const noexcept {
    return std::ranges::any_of(places_,
                               [](const Place* each) { return each->kind != Kind::waits; });
}

void AcceptQueue::begin_probe() {
    for (Place* const each : places_) {
        each->kind = each->kind == Kind::probes ? Kind::probed : each->kind;
    }
}

void AcceptQueue::end_probe() {
    for (std::size_t i = 0; i < places_.size();) {
        if (places_[i]->kind == Kind::probed) {
            answer(i, none_);
        } else {
            ++i;
        }
    }
}

void AcceptQueue::fail_all(const Failure& why) {
    while (!empty()) {
        answer(0, why);
    }
}

void AcceptQueue::answer(std::size_t place, core::Result<ports::SessionLinkPtr> result) {
    Place& answered = *places_[place];
    places_.erase(places_.begin() + static_cast<std::ptrdiff_t>(place));
    answered.queue = nullptr;
    book_.answer(answered.id, std::move(result));
}

} // namespace sessionq::groups
