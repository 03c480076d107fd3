#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <sessionq/session_receiver.hpp>

#include "client/client_core.hpp"
#include "client/receive_queue.hpp"
#include "processor/lease.hpp"
#include "timing/timer.hpp"

namespace sessionq::client {

/// A delivery and what is known of its settlement. Kept alive by the application's handle and,
/// while it is being settled, by itself.
struct HeldDelivery final : ports::Delivery, core::ListHook<HeldDelivery> {
    std::atomic<bool> decided{
        false}; ///< Any thread: the one settling call that counts has been made.
    PendingPtr<core::Done> settling{};
    std::shared_ptr<HeldDelivery> self{};
};

/// A session held by a `SessionReceiver`: link, lease, messages, and whoever waits for something of
/// them. Lives on its station's thread; whoever lets go of it last, it is destroyed there.
class SessionReceiverCore final : public ports::LinkEvents,
                                  public Resident,
                                  public std::enable_shared_from_this<SessionReceiverCore> {
public:
    /// Where a session lives.
    struct Home {
        core::EventLoop& loop;
        Residents& residents;
        core::Executor& notifier; ///< fires the stop token, whose callbacks are user code
    };

    /// On the thread. `asked` is when the accept was.
    [[nodiscard]] static std::shared_ptr<SessionReceiverCore> make(
        const Home& home, std::string entity, const SessionReceiverOptions& options,
        ports::SessionLinkPtr link, TimePoint asked);
    ~SessionReceiverCore() override;

    // Any thread
    [[nodiscard]] const std::string& session_id() const noexcept { return session_id_; }
    [[nodiscard]] const std::string& entity() const noexcept { return entity_; }
    [[nodiscard]] Deadline lock_expires() const noexcept {
        return Deadline::at(TimePoint{Duration{expires_.load(std::memory_order_acquire)}});
    }
    [[nodiscard]] std::stop_token stop_token() const noexcept { return stop_.get_token(); }
    [[nodiscard]] std::optional<Failure> loss() const;
    [[nodiscard]] core::EventLoop& loop() const noexcept { return loop_; }

    // On the thread
    void receive(PendingPtr<Deliveries> pending, std::size_t max, bool present_only);
    void forget(const PendingBase& pending); ///< whoever waited in `receive` gave up
    void settle(std::shared_ptr<HeldDelivery> held, ports::Settlement settlement,
                PendingPtr<core::Done> pending);
    void receive_deferred(std::vector<std::int64_t> sequence_numbers,
                          const PendingPtr<Deliveries>& pending);
    void get_state(const PendingPtr<std::optional<std::string>>& pending);
    void set_state(std::optional<std::string> state, const PendingPtr<core::Done>& pending);
    void renew_lock(const PendingPtr<Deadline>& pending);
    /// Gives the session back; `pending` may be null.
    void close(PendingPtr<core::Done> pending);
    void leave() noexcept override;

private:
    SessionReceiverCore(const Home& home, std::string entity, const SessionReceiverOptions& options,
                        ports::SessionLinkPtr link);

    [[nodiscard]] ports::DeliveryPtr new_delivery() override {
        return std::make_unique<HeldDelivery>();
    }
    void on_delivery(ports::DeliveryPtr delivery) override;
    void on_settled(ports::Delivery& delivery, const Failure* failure) override;
    void on_drained() override;
    void on_lease_doubted() override;
    void on_lost(const Failure& reason) override { end(reason); }

    void advance_queue();
    void handed_out(std::size_t count);
    void note_progress();
    [[nodiscard]] bool is_slow(TimePoint now) const noexcept;
    void tell_link(ReceiveQueue::Flow flow);
    void on_granted(TimePoint asked, const ports::LockGrant& grant);
    void on_lease_due() { drive_lease(); }
    void follow_lease();
    void drive_lease();
    void renew();
    void detach();
    void on_close_guard() { end(Failure{.code = Errc::cancelled}); }
    void end(const Failure& why);
    void refuse(const Failure& why);
    void fire_stop();
    void let_go_of_link();
    void fail_settling();
    [[nodiscard]] bool usable() const noexcept { return link_ != nullptr && !closing_; }
    /// Gives the request up at the link when the operation is given up.
    void give_up_with(PendingBase& pending, ports::RequestId id);
    template <typename T>
    [[nodiscard]] bool refuse_unless_usable(const PendingPtr<T>& pending);

    core::EventLoop& loop_;
    core::Executor& notifier_;
    const std::string entity_;
    const std::string session_id_;
    const SessionReceiverOptions options_;

    // Any thread
    std::atomic<Duration::rep> expires_{TimePoint::max().time_since_epoch().count()};
    std::stop_source stop_{};
    mutable std::mutex loss_mutex_;
    std::optional<Failure> loss_; // guarded by loss_mutex_

    // The thread's own
    ports::SessionLinkPtr link_;
    processor::Lease lease_{};
    timing::Timer lease_timer_{timing::Timer::calling<&SessionReceiverCore::on_lease_due>(this)};
    timing::Timer close_guard_{timing::Timer::calling<&SessionReceiverCore::on_close_guard>(this)};
    ReceiveQueue queue_;
    std::size_t in_hand_{0}; // handed out and not settled
    TimePoint progress_at_{};
    bool serve_posted_{false};
    core::IntrusiveList<HeldDelivery, HeldDelivery> settling_;
    std::vector<PendingPtr<core::Done>> closers_;
    bool closing_{false};
    bool stop_fired_{false};
    std::shared_ptr<SessionReceiverCore> self_; // while closing
};

using ReceiverPtr = std::shared_ptr<SessionReceiverCore>;

/// What a receiver and its messages hold: the client, and the session on one of its threads. The
/// client goes last.
class ReceiverGrip {
public:
    ReceiverGrip(std::shared_ptr<ClientCore> owner, ReceiverPtr held) noexcept
        : client{std::move(owner)}, session{std::move(held)} {}
    ReceiverGrip(const ReceiverGrip&) = delete;
    ReceiverGrip& operator=(const ReceiverGrip&) = delete;
    ~ReceiverGrip() = default;

    const std::shared_ptr<ClientCore> client;
    const ReceiverPtr session;
};

} // namespace sessionq::client
