// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "broker/consumer_target.hpp"
#include "broker/queue.hpp"
#include "in_process/turn_queue.hpp"

namespace sessionq::in_process {

/// The broker's news for a mailbox since the last turn.
struct MailboxNews {
    enum Note : std::uint8_t { accepted = 1, refused = 2, work = 4, lost = 8, abandoned = 16 };

    [[nodiscard]] bool has(Note note) const noexcept { return (notes & note) != 0; }

    std::uint8_t notes{0};
};

/// Takes the turns of a mailbox: an accept under way, later the link.
class MailboxOwner {
public:
    virtual void on_turn(MailboxNews news) = 0;

protected:
    ~MailboxOwner() = default;
};

/// The broker's handle to a consumer on a loop. Notes the broker's news, on any thread, and gives
/// the owner a turn. Outlives the owner while another thread is calling it.
class ConsumerMailbox final : public broker::ConsumerTarget, public TurnTaker {
    using News = MailboxNews;

public:
    ConsumerMailbox(std::shared_ptr<TurnQueue> turns, broker::QueuePtr queue)
        : turns_{std::move(turns)}, queue_{std::move(queue)} {}

    // On the loop.
    /// Without an owner news are kept, and no turn is taken.
    void set_owner(MailboxOwner* owner) noexcept { owner_ = owner; }
    [[nodiscard]] MailboxOwner* owner() const noexcept { return owner_; }
    /// Gives the owner a turn later.
    void schedule() { turns_->schedule(*this); }
    [[nodiscard]] const broker::QueuePtr& queue() const noexcept { return queue_; }

    /// For a session. Answered now or later.
    void ask(broker::AcceptSpec spec);
    /// For the messages of an entity without sessions. Answered now.
    void open(broker::ReceiveMode mode, int priority);
    /// The answer is not wanted any more. A session that comes is given back at once (R19).
    void abandon() noexcept;

    /// After `accepted`; once.
    [[nodiscard]] broker::ConsumerPtr take_granted() noexcept { return std::move(granted_); }
    /// After `refused` or `lost`, which exclude each other.
    [[nodiscard]] const Failure& failure() const noexcept { return *failure_; }

    void turn() override;

    // On any thread.
    void on_accepted(broker::ConsumerPtr consumer) noexcept override;
    void on_refused(Failure why) noexcept override { fail(News::refused, std::move(why)); }
    void notify_work() noexcept override { note(News::work); }
    void on_lost(Failure why) noexcept override { fail(News::lost, std::move(why)); }

private:
    void fail(News::Note what, Failure&& why) noexcept;
    void note(News::Note what) noexcept;

    const std::shared_ptr<TurnQueue> turns_;
    const broker::QueuePtr queue_;
    MailboxOwner* owner_{nullptr};
    broker::OperationId wait_{0};

    // Written before the note is set, read after.
    std::atomic<std::uint8_t> notes_{0};
    broker::ConsumerPtr granted_{};
    std::unique_ptr<Failure> failure_{};
    broker::Instant abandoned_at_{};
};

} // namespace sessionq::in_process
