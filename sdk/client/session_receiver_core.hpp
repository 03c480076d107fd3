#pragma once

#include <memory>
#include <string>
#include <vector>

#include <sessionq/session_receiver.hpp>

#include "client/receive_queue.hpp"
#include "client/receiver_machine.hpp"
#include "client/session_status.hpp"
#include "client/settling_progress.hpp"
#include "client/unanswered_settlements.hpp"
#include "ports/lock_keeper.hpp"
#include "ports/session_link.hpp"
#include "timing/timer.hpp"

namespace sessionq::client {

class ReceiverSet;

/// A session held by a `SessionReceiver`: drives the link, the lock and the message queue as their
/// deciders say. Lives on one loop; its owner destroys it there.
class SessionReceiverCore final : public ports::LinkEvents {
public:
    struct Home {
        core::EventLoop& loop;
        ReceiverSet& receivers; ///< The owner.
        core::Executor& notifier;
    };

    /// `asked` is when the accept was.
    SessionReceiverCore(const Home& home, std::string entity, const SessionReceiverOptions& options,
                        ports::SessionLinkPtr link, TimePoint asked);
    ~SessionReceiverCore() override;
    SessionReceiverCore(const SessionReceiverCore&) = delete;
    SessionReceiverCore& operator=(const SessionReceiverCore&) = delete;

    [[nodiscard]] const std::shared_ptr<SessionStatus>& status() const noexcept { return status_; }
    [[nodiscard]] bool is_open() const noexcept {
        return machine_.phase() == ReceiverMachine::Phase::open;
    }

    // While it is open
    void receive(PendingPtr<Deliveries> pending, std::size_t max, bool present_only);
    void settle(std::shared_ptr<HeldDelivery> delivery, ports::Settlement settlement,
                PendingPtr<core::Done> pending);
    void receive_deferred(std::vector<std::int64_t> sequence_numbers,
                          const PendingPtr<Deliveries>& pending);
    void renew_lock(const PendingPtr<Deadline>& pending);

    /// Sends a request that `send(link, deadline, answer)` makes, and gives it up at the link when
    /// the operation is given up.
    template <typename T, typename Send>
    void ask(const PendingPtr<T>& pending, Send send);

    // At any time
    void look();                             ///< Does what is due now.
    void forget(const PendingBase& pending); ///< whoever waited in `receive` gave up
    /// Gives the session back; `pending` may be null.
    void close(PendingPtr<core::Done> pending);
    void on_lost(const Failure& reason) override;

private:
    [[nodiscard]] ports::DeliveryPtr new_delivery() override {
        return std::make_unique<HeldDelivery>();
    }
    void on_delivery(ports::DeliveryPtr delivery) override;
    void on_settled(ports::Delivery& delivery, const Failure* failure) override;
    void on_drained() override;
    void on_lock_uncertain() override;

    void serve();
    void arm();
    void perform(const ports::LockActions& actions, const Failure& loss);
    void perform(const ReceiverActions& actions, const Failure& why);

    const Home home_;
    const SessionReceiverOptions options_;
    const std::shared_ptr<SessionStatus> status_;
    ports::SessionLinkPtr link_;
    ports::LockKeeper lock_{};
    ReceiverMachine machine_{};
    timing::Timer timer_{timing::Timer::calling<&SessionReceiverCore::look>(this)};
    ReceiveQueue queue_;
    SettlingProgress progress_;
    UnansweredSettlements settling_{};
    std::vector<PendingPtr<core::Done>> closers_{};
};

template <typename T, typename Send>
void SessionReceiverCore::ask(const PendingPtr<T>& pending, Send send) {
    const ports::RequestId id =
        send(*link_, pending->deadline(), AnswerTo<T>{pending, Errc::lock_lost});
    pending->ask_port([status = status_, id] {
        if (SessionReceiverCore* there = status->receiver()) {
            there->link_->give_up(id);
        }
    });
}

} // namespace sessionq::client
