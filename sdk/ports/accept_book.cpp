// SPDX-License-Identifier: MIT
#include "ports/accept_book.hpp"

#include <utility>

namespace sessionq::ports {

void AcceptBook::close() {
    replies_.clear();
    for (auto& [id, accept] : std::exchange(accepts_, {})) {
        accept.asking.reset();
        accept.answer.reset();
        accept.handler(Failure{.code = Errc::cancelled, .detail = "the client is closed"});
    }
}

void AcceptBook::add(RequestId id, Deadline deadline, AcceptHandler handler,
                     std::unique_ptr<Asking> asking) {
    next_ = next_.sooner(deadline);
    Accept accept{.handler = std::move(handler), .deadline = deadline, .asking = std::move(asking)};
    if (spare_.empty()) {
        accepts_.emplace_hint(accepts_.end(), id, std::move(accept));
        return;
    }
    spare_.key() = id;
    spare_.mapped() = std::move(accept);
    accepts_.insert(accepts_.end(), std::move(spare_));
}

void AcceptBook::ask(RequestId id, std::unique_ptr<Asking> asking) {
    if (const auto found = accepts_.find(id); found != accepts_.end() && !found->second.answer) {
        found->second.asking = std::move(asking);
    }
}

void AcceptBook::wait(RequestId id, Deadline until) {
    if (const auto found = accepts_.find(id); found != accepts_.end()) {
        next_ = next_.sooner(until);
        found->second.wait = until;
    }
}

void AcceptBook::answer(RequestId id, core::Result<SessionLinkPtr> answer) {
    const auto found = accepts_.find(id);
    if (found == accepts_.end() || found->second.answer) {
        return;
    }
    found->second.answer.emplace(std::move(answer));
    replies_.push([this, id] { reply(id); });
}

void AcceptBook::answer_now(RequestId id, core::Result<SessionLinkPtr> answer) {
    if (const auto found = accepts_.find(id); found != accepts_.end() && !found->second.answer) {
        const AcceptHandler handler = take(found).handler;
        handler(std::move(answer));
    }
}

void AcceptBook::give_up(RequestId id) {
    stop(id, Failure{.code = Errc::cancelled, .detail = "the accept was given up"});
}

void AcceptBook::stop(RequestId id, Failure why) {
    if (const auto found = accepts_.find(id); found != accepts_.end()) {
        found->second.asking.reset(); // stops asking the broker at once
        answer(id, std::move(why));
    }
}

Deadline AcceptBook::expire(TimePoint now) {
    if (!next_.passed(now)) {
        return next_;
    }
    next_ = {};
    for (auto& [id, accept] : accepts_) {
        if (accept.answer) {
            continue;
        }
        if (accept.deadline.passed(now)) {
            stop(id, Failure{.code = Errc::timeout});
        } else if (accept.wait.passed(now)) {
            stop(id, accept.asking->none());
        } else {
            next_ = next_.sooner(accept.deadline).sooner(accept.wait);
        }
    }
    return next_;
}

void AcceptBook::reply(RequestId id) {
    Accept accept = take(accepts_.find(id));
    accept.handler(*std::move(accept.answer));
}

/// Ends the asking of an accept, and removes the accept.
AcceptBook::Accept AcceptBook::take(std::map<RequestId, Accept>::iterator at) {
    at->second.asking.reset();
    spare_ = accepts_.extract(at);
    return std::exchange(spare_.mapped(), {});
}

} // namespace sessionq::ports
