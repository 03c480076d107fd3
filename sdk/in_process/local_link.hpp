// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "in_process/confirmations.hpp"
#include "in_process/consumer_mailbox.hpp"
#include "in_process/link_machine.hpp"
#include "in_process/settle_order_book.hpp"
#include "ports/session_link.hpp"

namespace sessionq::in_process {

/// A session of the local broker. Performs the decisions of its `LinkMachine`. Messages that are
/// removed when they are received are delivered once their removal is kept, so that none comes
/// twice, however the process ends.
///
/// May outlive its endpoint, not the loop.
class LocalLink : public ports::SessionLink, private MailboxOwner {
public:
    /// `news` came with the answer to the accept, which named the session's entity at position
    /// `entity_index`.
    LocalLink(std::shared_ptr<TurnQueue> turns, std::shared_ptr<ConsumerMailbox> mailbox,
              broker::Journal* journal, MailboxNews news, std::size_t entity_index);
    ~LocalLink() override;
    LocalLink(const LocalLink&) = delete;
    LocalLink& operator=(const LocalLink&) = delete;

    [[nodiscard]] const std::string& session_id() const noexcept override;
    [[nodiscard]] std::size_t entity_index() const noexcept override { return entity_index_; }
    [[nodiscard]] ports::LockGrant initial_lock() const noexcept override;
    ports::FirstCredit set_events(ports::LinkEvents& events) override;
    void add_credit(std::uint32_t count) override;
    void drain() override;
    void settle(ports::Delivery& delivery, ports::Settlement&& settlement) override;
    ports::RequestId renew_lock(Deadline deadline, LockHandler handler) override;
    ports::RequestId get_state(Deadline deadline, StateHandler handler) override;
    ports::RequestId set_state(std::optional<std::string> state, Deadline deadline,
                               DoneHandler handler) override;
    ports::RequestId receive_deferred(std::vector<std::int64_t> sequence_numbers, Deadline deadline,
                                      DeliveriesHandler handler) override;
    void give_up(ports::RequestId id) override;
    void close(DoneHandler handler) override;

protected:
    /// Has the broker perform an operation, unless its deadline has passed.
    template <typename T, typename Operation>
    [[nodiscard]] core::Result<T> perform(Deadline deadline, Operation operation) {
        apply_settlements();
        const broker::Instant now = turns_->now();
        return deadline.passed(now.now) ? Failure{.code = Errc::timeout}
                                        : operation(*mailbox_->queue(), now);
    }
    Confirmations& confirmations();

    const TurnQueueUse turns_;
    const std::shared_ptr<ConsumerMailbox> mailbox_;
    const broker::ConsumerPtr consumer_;

private:
    void on_turn(MailboxNews news) override;

    /// Each returns false when an event has destroyed the link.
    [[nodiscard]] bool tell_settled();
    [[nodiscard]] bool tell(const SettleOrderBook::Batch& outcomes, const Failure* why);
    [[nodiscard]] bool pull(std::uint32_t count);

    void apply_settlements();
    /// Delivers messages that have been removed once that is kept.
    void commit_removals();

    broker::Journal* const journal_;
    const std::size_t entity_index_;
    ports::LinkEvents* events_{nullptr};
    LinkMachine machine_{};
    SettleOrderBook settlements_{turns_->spare_books()};
    std::vector<broker::Delivered> removed_{};       // delivered once their removal is kept
    std::unique_ptr<Confirmations> confirmations_{}; // made when first needed
    DoneHandler close_handler_{};
};

} // namespace sessionq::in_process
