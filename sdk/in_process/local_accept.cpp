// SPDX-License-Identifier: MIT
#include "in_process/local_accept.hpp"

#include <utility>

#include "in_process/local_entity_link.hpp"
#include "ports/wrong_scope.hpp"

namespace sessionq::in_process {

LocalAccept::Line::Line(LocalAccept& of, std::size_t at, broker::QueuePtr queue)
    : accept{of},
      index{at},
      mailbox{std::make_shared<ConsumerMailbox>(of.turns_, std::move(queue))} {
    mailbox->set_owner(this);
}

LocalAccept::Line::~Line() {
    if (mailbox->owner() == this) {
        mailbox->abandon();
    }
}

LocalAccept::LocalAccept(Request request, std::shared_ptr<TurnQueue> turns, std::size_t entities)
    : request_{request},
      turns_{std::move(turns)},
      claim_{entities > 1 ? std::make_shared<broker::AcceptClaim>(entities) : nullptr} {}

LocalAccept::~LocalAccept() {
    if (claim_) {
        claim_->take(); // so that none of the entities answers while the others are told
    }
}

bool LocalAccept::ask(std::size_t index, broker::QueuePtr queue, broker::AcceptSpec spec) {
    spec.claim = claim_;
    lines_.emplace_back(*this, index, std::move(queue)).mailbox->ask(std::move(spec));
    return !claim_ || !claim_->is_taken();
}

void LocalAccept::open(broker::QueuePtr queue, broker::ReceiveMode mode, int priority) {
    lines_.emplace_back(*this, 0, std::move(queue)).mailbox->open(mode, priority);
}

ports::SessionLinkPtr LocalAccept::make_link(const Line& line, MailboxNews news) const {
    if (request_.scope == ports::Scope::entity) {
        return std::make_unique<LocalEntityLink>(turns_, line.mailbox, request_.journal, news, 0);
    }
    return std::make_unique<LocalLink>(turns_, line.mailbox, request_.journal, news, line.index);
}

/// The answer destroys this, and perhaps the endpoint.
void LocalAccept::on_turn(Line& line, MailboxNews news) {
    ConsumerMailbox& mailbox = *line.mailbox;
    if (news.has(MailboxNews::accepted)) {
        request_.book.answer_now(request_.id, make_link(line, news));
    } else if (news.has(MailboxNews::refused)) {
        mailbox.set_owner(nullptr);
        const Failure& why = mailbox.failure();
        const bool is_late = why.code == Errc::no_session_available &&
                             request_.deadline.passed(turns_->loop().now());
        request_.book.answer_now(
            request_.id, is_late
                             ? Failure{.code = Errc::timeout}
                             : ports::explain_scope(why, mailbox.queue()->name(), request_.scope));
    }
}

} // namespace sessionq::in_process
