// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/reply_queue.hpp"
#include "ports/endpoint.hpp"
#include "ports/settlement_book.hpp"
#include "servicebus/deferred_book.hpp"
#include "servicebus/held_lock.hpp"
#include "servicebus/session_inbox.hpp"
#include "servicebus/session_requests.hpp"

namespace sessionq::detail::servicebus {

/// A session that this client holds: a receiver link, kept by the broker as the lock. Performs the
/// decisions of a `LockedSessionMachine`. Bound to the loop; may outlive its connection.
class LockedSession : public ports::SessionLink, private amqp::LinkListener {
public:
    /// How it was asked for.
    struct Terms {
        ports::ReceiveMode mode{};
        ports::FirstCredit first{}; ///< went out with the attach
    };

    /// `locked_until` is by the broker's clock, if it said so.
    LockedSession(std::unique_ptr<PooledLink> link, SessionAddress address, Terms terms,
                  std::optional<WallTime> locked_until);

    [[nodiscard]] const std::string& session_id() const noexcept override {
        return requests_.address().session_id;
    }
    [[nodiscard]] core::ReceiveSharePtr share() const override { return inbox_.share(); }
    [[nodiscard]] ports::LockGrant initial_lock() const noexcept override { return lock_.initial; }
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
    void give_up(ports::RequestId id) override { requests_.give_up(id); }
    void close(DoneHandler handler) override;

protected:
    [[nodiscard]] bool may_use() const noexcept { return machine_.may_use(link_->is_gone()); }
    ports::RequestId ask(std::string operation, amqp::Map body, Deadline deadline,
                         SessionRequests::Handler handler);

    core::EventLoop& loop_;
    const Terms terms_;
    const std::unique_ptr<PooledLink> link_;
    SessionRequests requests_;
    ports::SettlementBook settlements_{};
    DeferredBook deferred_{};

private:
    void on_link_gone(const amqp::Condition& condition) override;
    void on_drained() override;
    void on_delivery(amqp::DeliveryHandle delivery, std::string_view encoded) override;
    void on_disposition(amqp::DeliveryHandle delivery) override;

    void proceed();

    LockedSessionMachine machine_{};
    HeldLock lock_{};
    SessionInbox inbox_;
    DoneHandler close_handler_{};
    std::unique_ptr<const Failure> loss_{}; // null: the link is there
    core::ReplyQueue replies_;
};

} // namespace sessionq::detail::servicebus
