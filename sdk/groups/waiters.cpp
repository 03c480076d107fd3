#include "groups/waiters.hpp"

#include <utility>

#include "timing/timer_service.hpp"

namespace sessionq::groups {

Waiters::Waiters(core::EventLoop& loop, Failure none, std::function<void()> expired)
    : loop_{loop}, none_{std::move(none)}, expired_{std::move(expired)} {}

void Waiters::add(ports::RequestId id, std::optional<Duration> wait, Answer answer) {
    Waiter& waiter = all_.emplace_back(*this, id, false, std::move(answer));
    if (wait) {
        loop_.timers().arm(waiter.timer, loop_.now() + *wait);
    }
}

void Waiters::add_probe(ports::RequestId id, Answer answer) {
    all_.emplace_back(*this, id, true, std::move(answer));
}

bool Waiters::cancel(ports::RequestId id) {
    const auto found =
        std::find_if(all_.begin(), all_.end(), [id](const Waiter& each) { return each.id == id; });
    if (found == all_.end()) {
        return false;
    }
    loop_.timers().cancel(found->timer);
    all_.erase(found);
    return true;
}

void Waiters::clear() {
    for (Waiter& each : all_) {
        loop_.timers().cancel(each.timer);
    }
    all_.clear();
}

void Waiters::begin_probe() {
    for (Waiter& each : all_) {
        each.is_asked_for = each.probes;
    }
}

void Waiters::end_probe() {
    for (auto each = all_.begin(); each != all_.end();) {
        const auto waiter = each++;
        if (waiter->is_asked_for) {
            answer(waiter, none_);
        }
    }
}

void Waiters::answer_all(const Failure& why) {
    while (!all_.empty()) {
        answer(all_.begin(), why);
    }
}

void Waiters::answer(std::list<Waiter>::iterator waiter,
                     core::Result<std::shared_ptr<GroupSession>> result) {
    loop_.timers().cancel(waiter->timer);
    loop_.post([answer = std::move(waiter->answer), result = std::move(result)]() mutable {
        answer(std::move(result));
    });
    all_.erase(waiter);
}

void Waiters::on_time(const Waiter& waiter) {
    answer(std::find_if(all_.begin(), all_.end(),
                        [&](const Waiter& each) { return &each == &waiter; }),
           none_);
    expired_();
}

} // namespace sessionq::groups
