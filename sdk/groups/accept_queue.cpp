#include "groups/accept_queue.hpp"

#include <algorithm>
#include <utility>

#include "timing/timer_service.hpp"

namespace sessionq::groups {

void AcceptQueue::add(ports::RequestId id, std::optional<Duration> wait, Deadline deadline,
                      ports::AcceptHandler handler) {
    Waiting& made = waiting_.emplace_back(*this, id, Kind::waits, deadline, std::move(handler));
    arm(made, wait ? Deadline::after(*wait, loop_.now()).sooner(deadline) : deadline);
}

void AcceptQueue::add_probe(ports::RequestId id, Deadline deadline, ports::AcceptHandler handler) {
    arm(waiting_.emplace_back(*this, id, Kind::probes, deadline, std::move(handler)), deadline);
}

void AcceptQueue::arm(Waiting& waiting, Deadline until) {
    if (!until.is_never()) {
        loop_.timers().arm(waiting.timer, until.time());
    }
}

AcceptQueue::List::iterator AcceptQueue::find(ports::RequestId id) {
    return std::ranges::find(waiting_, id, &Waiting::id);
}

void AcceptQueue::give_up(ports::RequestId id) {
    if (const auto found = find(id); found != waiting_.end()) {
        answer(found, Failure{.code = Errc::cancelled, .detail = "the accept was given up"});
        owner_.on_accept_ended();
    }
}

bool AcceptQueue::has_probes() const noexcept {
    return std::ranges::any_of(waiting_,
                               [](const Waiting& each) { return each.kind != Kind::waits; });
}

void AcceptQueue::begin_probe() {
    for (Waiting& each : waiting_) {
        if (each.kind == Kind::probes) {
            each.kind = Kind::probed;
        }
    }
}

void AcceptQueue::end_probe() {
    for (auto each = waiting_.begin(); each != waiting_.end();) {
        const auto waiting = each++;
        if (waiting->kind == Kind::probed) {
            answer(waiting, none_);
        }
    }
}

void AcceptQueue::fail_all(const Failure& why) {
    while (!waiting_.empty()) {
        answer(waiting_.begin(), why);
    }
}

void AcceptQueue::answer(List::iterator waiting, core::Result<ports::SessionLinkPtr> result) {
    replies_.push([handler = std::move(waiting->handler), result = std::move(result)]() mutable {
        handler(std::move(result));
    });
    waiting_.erase(waiting);
}

void AcceptQueue::on_expired(ports::RequestId id) {
    const auto found = find(id);
    const bool is_late = found->deadline.passed(loop_.now());
    answer(found, is_late ? Failure{.code = Errc::timeout} : none_);
    owner_.on_accept_ended();
}

} // namespace sessionq::groups
