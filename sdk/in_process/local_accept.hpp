// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>

#include "in_process/consumer_mailbox.hpp"
#include "ports/accept_book.hpp"

namespace sessionq::in_process {

/// Asks the broker for a session of one entity, or of any of several. Destroying this withdraws the
/// ask from all of them, and gives back a session that comes later. On the loop.
class LocalAccept final : public ports::Asking {
public:
    /// The ask under way in the endpoint's book.
    struct Request {
        ports::AcceptBook& book;
        ports::RequestId id{0};
        Deadline deadline{};
        broker::Journal* journal{nullptr};
        ports::Scope scope{ports::Scope::session};
    };

    /// `entities`: of how many entities it asks for a session.
    LocalAccept(Request request, std::shared_ptr<TurnQueue> turns, std::size_t entities);
    ~LocalAccept() override;
    LocalAccept(const LocalAccept&) = delete;
    LocalAccept& operator=(const LocalAccept&) = delete;

    /// Asks one entity, which the request names at position `index`. Returns false if it or another
    /// has answered: there is no need to ask more of them. With one entity the answer comes later.
    [[nodiscard]] bool ask(std::size_t index, broker::QueuePtr queue, broker::AcceptSpec spec);
    /// Asks for the messages of an entity without sessions.
    void open(broker::QueuePtr queue, broker::ReceiveMode mode, int priority);

private:
    /// Waits for the answer of one entity.
    struct Line final : MailboxOwner {
        Line(LocalAccept& of, std::size_t at, broker::QueuePtr queue);
        ~Line();
        Line(const Line&) = delete;
        Line& operator=(const Line&) = delete;

        void on_turn(MailboxNews news) override { accept.on_turn(*this, news); }

        LocalAccept& accept;
        const std::size_t index;
        const std::shared_ptr<ConsumerMailbox> mailbox;
    };

    void on_turn(Line& line, MailboxNews news);
    [[nodiscard]] ports::SessionLinkPtr make_link(const Line& line, MailboxNews news) const;

    const Request request_;
    const std::shared_ptr<TurnQueue> turns_;
    const std::shared_ptr<broker::AcceptClaim> claim_; // null: it asks one entity
    std::list<Line> lines_{};
};

} // namespace sessionq::in_process
