// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include <sessionq/deadline.hpp>
#include <sessionq/error.hpp>

#include "client/receiving/message_holder.hpp"
#include "core/event_loop.hpp"
#include "core/span_plan.hpp"
#include "ports/endpoint.hpp"

namespace sessionq::detail::client {

class ClientCore;
class SessionReceiverCore;

/// Shows the state of a receiver's session to any thread. For a `Receiver`, the entity without
/// sessions is the session. On the loop, the status is also the weak handle to the receiver. A
/// `SessionReceiverCore` makes the status, and the application's `HeldSession` keeps it. The status
/// outlives the receiver while the application holds it.
class SessionStatus : public std::enable_shared_from_this<SessionStatus> {
public:
    SessionStatus(core::EventLoop& loop, std::string entity, std::string session_id,
                  ports::Scope scope = ports::Scope::session);
    SessionStatus(const SessionStatus&) = delete;
    SessionStatus& operator=(const SessionStatus&) = delete;

    // Any thread
    [[nodiscard]] core::EventLoop& loop() const noexcept { return loop_; }
    [[nodiscard]] const std::string& entity() const noexcept { return entity_; }
    [[nodiscard]] const std::string& session_id() const noexcept { return session_id_; }
    [[nodiscard]] ports::Scope scope() const noexcept { return scope_; }
    /// Names the session or the entity in error texts.
    [[nodiscard]] std::string title() const {
        return scope_ == ports::Scope::session ? "session '" + session_id_ + "'"
                                               : "'" + entity_ + "'";
    }
    [[nodiscard]] Deadline lock_expires() const noexcept {
        return Deadline::at(TimePoint{Duration{expires_.load(std::memory_order_acquire)}});
    }
    [[nodiscard]] std::stop_token stop_token() const noexcept { return stop_.get_token(); }
    [[nodiscard]] std::optional<Failure> loss() const;
    /// The loss that a receiver has after the application closed it.
    [[nodiscard]] Failure closed() const {
        return {.code = Errc::cancelled, .detail = "the receiver of " + title() + " is closed"};
    }

    /// Makes the receiver give the session back. Does not wait. A second call has no effect.
    void give_back() noexcept;

    // On the loop
    /// The receiver. Null if the session has ended.
    [[nodiscard]] SessionReceiverCore* receiver() const noexcept { return receiver_; }
    void set_receiver(SessionReceiverCore* receiver) noexcept { receiver_ = receiver; }
    void set_lock_expires(Deadline expires) noexcept {
        expires_.store(expires.time().time_since_epoch().count(), std::memory_order_release);
    }
    /// Sets the reason of the loss. Later reasons are ignored.
    void set_loss(const Failure& why);
    /// Fires the stop token on `notifier`, because its callbacks are user code.
    void fire_stop(core::Executor& notifier);

private:
    core::EventLoop& loop_;
    const std::string entity_;
    const std::string session_id_;
    const ports::Scope scope_;
    std::atomic<Duration::rep> expires_{TimePoint::max().time_since_epoch().count()};
    std::atomic<bool> given_back_{false};
    std::stop_source stop_{};
    mutable std::mutex loss_mutex_;
    std::optional<Failure> loss_; // guarded by loss_mutex_
    SessionReceiverCore* receiver_{nullptr};
};

/// The session of a `SessionReceiver` or of a `Receiver`. The receiver and its messages share it.
/// An accept answers with it. The messages use it to settle themselves and to renew their locks.
/// Its destructor gives the session back.
class HeldSession final : public MessageHolder {
public:
    explicit HeldSession(std::shared_ptr<SessionStatus> status) noexcept
        : status_{std::move(status)} {}
    ~HeldSession() override { status_->give_back(); }

    [[nodiscard]] Deadline lock_expires() const noexcept override {
        return status_->lock_expires();
    }
    [[nodiscard]] std::stop_token stop_token() const noexcept override {
        return status_->stop_token();
    }
    void require(ports::Capability capability) const override;
    void require_held() const override;
    [[nodiscard]] std::optional<Operation<core::Done>> settle(DeliveryPtr delivery,
                                                              ports::Settlement settlement,
                                                              const CallOptions& call) override;
    [[nodiscard]] Operation<Deadline> renew_lock(const HeldDelivery& delivery,
                                                 const CallOptions& call) override;

    /// Keeps the client alive until the session is given back. Call it on the caller's thread,
    /// because no object on a receive thread may hold the client.
    void keep(std::shared_ptr<ClientCore> client) noexcept { client_ = std::move(client); }

    /// The entity and the session that the spans name. Valid as long as this object.
    [[nodiscard]] core::SpanPlace place() const noexcept {
        return {.entity = status_->entity(), .session_id = status_->session_id()};
    }
    /// Null before `keep`.
    [[nodiscard]] const std::shared_ptr<ClientCore>& client() const noexcept { return client_; }
    [[nodiscard]] const std::shared_ptr<SessionStatus>& status() const noexcept { return status_; }

private:
    std::shared_ptr<ClientCore> client_{};
    const std::shared_ptr<SessionStatus> status_;
};

using HeldSessionPtr = std::shared_ptr<HeldSession>;

/// Gives the session back. No effect if `session` is null, as in a receiver that was moved from.
inline void give_back(const HeldSessionPtr& session) noexcept {
    if (session != nullptr) {
        session->status()->give_back();
    }
}

} // namespace sessionq::detail::client
