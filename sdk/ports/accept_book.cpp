#include "ports/accept_book.hpp"

#include <utility>

namespace sessionq::ports {

AcceptBook::~AcceptBook() {
    replies_.clear();
    for (auto& [id, accept] : std::exchange(accepts_, {})) {
        accept.asking.reset();
        accept.answer.reset();
        accept.handler(Failure{.code = Errc::cancelled, .detail = "the client is closed"});
    }
}

void AcceptBook::add(RequestId id, Deadline deadline, AcceptHandler handler) {
    accepts_.emplace(id, Accept{.handler = std::move(handler), .deadline = deadline});
}

void AcceptBook::ask(RequestId id, std::unique_ptr<Asking> asking) {
    if (const auto found = accepts_.find(id); found != accepts_.end() && !found->second.answer) {
        found->second.asking = std::move(asking);
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

void AcceptBook::give_up(RequestId id) {
    stop(id, Failure{.code = Errc::cancelled, .detail = "the accept was given up"});
}

void AcceptBook::stop(RequestId id, Failure why) {
    if (const auto found = accepts_.find(id); found != accepts_.end()) {
        found->second.asking.reset(); // the broker is told at once
        answer(id, std::move(why));
    }
}

Deadline AcceptBook::expire(TimePoint now) {
    Deadline next;
    for (auto& [id, accept] : accepts_) {
        if (accept.answer) {
            continue;
        }
        if (accept.deadline.passed(now)) {
            stop(id, Failure{.code = Errc::timeout});
        } else {
            next = next.sooner(accept.deadline);
        }
    }
    return next;
}

void AcceptBook::reply(RequestId id) {
    const auto node = accepts_.extract(id);
    Accept& accept = node.mapped();
    accept.asking.reset();
    accept.handler(*std::move(accept.answer));
}

} // namespace sessionq::ports
