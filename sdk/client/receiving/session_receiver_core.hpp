// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <sessionq/receiver.hpp>
#include <sessionq/session_receiver.hpp>

#include "client/receiving/receive_book.hpp"
#include "client/receiving/receiver_machine.hpp"
#include "client/receiving/session_status.hpp"
#include "client/receiving/settling_progress.hpp"
#include "client/receiving/unanswered_settlements.hpp"
#include "ports/held_link.hpp"
#include "ports/lock_keeper.hpp"
#include "timing/timer.hpp"

namespace sessionq::detail::client {

class ReceiverSet;

/// How a receiver holds its session, or the messages of an entity without sessions.
struct ReceiverSettings {
    ports::Scope scope{ports::Scope::session};
    ports::ReceiveMode mode{ports::ReceiveMode::peek_lock};
    bool renews{true}; ///< renews the locks by itself
    Duration max_lock_renewal{};
    std::uint32_t prefetch{0};
    int priority{0};

    [[nodiscard]] bool removes() const noexcept {
        return mode == ports::ReceiveMode::receive_and_delete;
    }
};

[[nodiscard]] inline ports::ReceiveMode mode_of(bool receive_and_delete) noexcept {
    return receive_and_delete ? ports::ReceiveMode::receive_and_delete
                              : ports::ReceiveMode::peek_lock;
}

[[nodiscard]] inline ReceiverSettings settings_of(const SessionReceiverOptions& options) noexcept {
    return {.mode = mode_of(options.receive_and_delete),
            .renews = options.auto_renew,
            .max_lock_renewal = options.max_lock_renewal,
            .priority = options.priority};
}

[[nodiscard]] inline ReceiverSettings settings_of(const ReceiverOptions& options) noexcept {
    return {.scope = ports::Scope::entity,
            .mode = mode_of(options.receive_and_delete),
            .renews = options.auto_renew,
            .max_lock_renewal = options.max_lock_renewal,
            .prefetch = options.prefetch,
            .priority = options.priority};
}

/// Drives the session of a `SessionReceiver` on its loop. It owns the link, and performs the
/// decisions of `ReceiverMachine`, `ReceiveBook`, `SettlingProgress` and `LockKeeper`. An accept
/// makes it, and its `ReceiverSet` owns it. For a `Receiver`, an entity without sessions counts as
/// one session. The lock of that session does not end, and its messages have locks of their own.
class SessionReceiverCore final : public ports::LinkEvents {
public:
    struct Home {
        core::EventLoop& loop;
        ReceiverSet& receivers; ///< The owner.
        core::Executor& notifier;
    };

    /// `asked` is the time at which the accept was sent.
    SessionReceiverCore(const Home& home, std::string entity, const ReceiverSettings& settings,
                        ports::SessionLinkPtr link, TimePoint asked);
    ~SessionReceiverCore() override;
    SessionReceiverCore(const SessionReceiverCore&) = delete;
    SessionReceiverCore& operator=(const SessionReceiverCore&) = delete;

    [[nodiscard]] const std::shared_ptr<SessionStatus>& status() const noexcept { return status_; }
    [[nodiscard]] bool is_open() const noexcept {
        return machine_.phase() == ReceiverMachine::Phase::open;
    }

    // Call these only while `is_open()`.
    void receive(const PendingPtr<Deliveries>& pending, std::size_t max, bool present_only);
    void receive_deferred(const PendingPtr<Deliveries>& pending,
                          std::vector<std::int64_t> sequence_numbers);
    void settle(const PendingPtr<core::Done>& pending, std::shared_ptr<HeldDelivery> delivery,
                ports::Settlement settlement);
    void get_state(const PendingPtr<std::optional<std::string>>& pending);
    void set_state(const PendingPtr<core::Done>& pending, std::optional<std::string> state);
    /// Renews the lock of a message, or of the session if `lock` is null.
    void renew_lock(const PendingPtr<Deadline>& pending, std::shared_ptr<ports::OwnLock> lock);

    // These may be called at any time.
    void look(); ///< Does the work that is due now.
    /// Gives the session back, and then completes `pending`, which may be null.
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

    template <typename Request>
    void ask(PendingBase& pending, Request request);
    template <typename T>
    void ask_state(const PendingPtr<T>& pending, ports::RequestId id);
    void serve();
    void arm();
    void perform(const ports::LockActions& actions, const Failure& loss);
    void perform(const ReceiverActions& actions, const Failure& why);

    const Home home_;
    const ReceiverSettings settings_;
    const std::shared_ptr<SessionStatus> status_;
    ports::HeldLink link_;
    ports::LockKeeper lock_{};
    ReceiverMachine machine_{};
    timing::Timer timer_{timing::Timer::calling<&SessionReceiverCore::look>(this)};
    ReceiveBook book_;
    SettlingProgress progress_;
    UnansweredSettlements settling_{};
    std::vector<PendingPtr<core::Done>> closers_{};
};

/// Owns the receivers that live on a thread. Outlives the tasks of that thread's loop.
class ReceiverSet {
public:
    /// Starts a receiver. Returns its status, which other threads may read.
    std::shared_ptr<SessionStatus> add(std::unique_ptr<SessionReceiverCore> receiver);

    /// Destroys the receiver in a later task, because the caller may be an event of its link.
    void retire(SessionReceiverCore& receiver);

    /// Ends and destroys all receivers at once, because the client is being closed.
    void end_all();

private:
    std::unordered_map<const SessionReceiverCore*, std::unique_ptr<SessionReceiverCore>> open_;
    std::vector<std::unique_ptr<SessionReceiverCore>> retired_;
};

} // namespace sessionq::detail::client
