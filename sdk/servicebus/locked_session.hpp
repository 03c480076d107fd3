#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "amqp/codec/delivery_codec.hpp"
#include "ports/endpoint.hpp"
#include "ports/settlement_book.hpp"
#include "servicebus/session_requests.hpp"

namespace sessionq::servicebus {

/// A session that this client holds: a receiver link, kept by the broker as the lock. Bound to the
/// loop; may outlive its connection.
class LockedSession final : public ports::SessionLink, private amqp::LinkListener {
public:
    struct Terms {
        std::string entity{};
        std::string session_id{};
        std::string link_name{};
        ports::ReceiveMode mode{ports::ReceiveMode::peek_lock};
        std::optional<WallTime> locked_until{}; ///< By the broker's clock, if it said so.
        BrokerConnection::PooledLink link{};
    };

    LockedSession(BrokerConnection& connection, Terms terms);
    ~LockedSession() override;
    LockedSession(const LockedSession&) = delete;
    LockedSession& operator=(const LockedSession&) = delete;

    [[nodiscard]] const std::string& session_id() const noexcept override { return session_id_; }
    [[nodiscard]] ports::LockGrant initial_lock() const noexcept override { return initial_lock_; }
    void set_events(ports::LinkEvents& events) override;
    void add_credit(std::uint32_t count) override;
    void drain() override;
    void settle(ports::Delivery& delivery, ports::Settlement settlement) override;
    ports::RequestId renew_lock(Deadline deadline, LockHandler handler) override;
    ports::RequestId get_state(Deadline deadline, StateHandler handler) override;
    ports::RequestId set_state(std::optional<std::string> state, Deadline deadline,
                               DoneHandler handler) override;
    ports::RequestId receive_deferred(std::vector<std::int64_t> sequence_numbers, Deadline deadline,
                                      DeliveriesHandler handler) override;
    void give_up(ports::RequestId id) override { requests_.give_up(id); }
    void close(DoneHandler handler) override;

private:
    enum class Phase : std::uint8_t { held, closing, lost, closed };

    /// The lock as the broker said last.
    struct Lock {
        std::optional<WallTime> until{}; // by the broker's clock
        TimePoint asked{};
        std::uint32_t lessons{0}; // of the lock clock that its length accounts for
    };

    void on_link_closed(const amqp::Condition& condition, bool) override { on_ended(condition); }
    void on_link_gone(const amqp::Condition& condition) override { on_ended(condition); }
    void on_drained() override;
    void on_delivery(amqp::DeliveryHandle delivery) override;
    void on_disposition(amqp::DeliveryHandle delivery) override;

    void on_ended(const amqp::Condition& condition);
    [[nodiscard]] bool is_held() const noexcept {
        return phase_ == Phase::held && !link_.link->is_gone();
    }
    [[nodiscard]] Failure not_held() const;
    void later(std::function<void(LockedSession&)> action);
    template <typename T, typename Read>
    ports::RequestId ask(std::string operation, amqp::Map body, Deadline deadline,
                         std::function<void(core::Result<T>)> handler, Read read);
    void reject_undecodable(amqp::DeliveryHandle delivery, bool settled, const Failure& why);
    [[nodiscard]] bool learn(WallTime enqueued, const amqp::ClockReading& at);
    [[nodiscard]] ports::LockGrant take_lock(WallTime until, TimePoint asked);
    void note_lock_ended();
    [[nodiscard]] ports::DeliveryPtr make_delivery(amqp::ReceivedDelivery&& received,
                                                   std::size_t bytes, std::uint64_t tag,
                                                   bool settled);

    BrokerConnection& connection_; // while `alive_` says so
    const core::WeakHandle<BrokerConnection> alive_;
    core::EventLoop& loop_;
    const std::string entity_;
    const std::string session_id_;
    const ports::ReceiveMode mode_;
    BrokerConnection::PooledLink link_;
    Phase phase_{Phase::held};
    Lock lock_{};
    ports::LockGrant initial_lock_{};
    ports::LinkEvents* events_{nullptr};
    std::optional<Failure> untold_loss_{}; // it came before the events were set
    ports::SettlementBook settlements_{};
    std::unordered_map<std::uint64_t, core::Uuid> deferred_{}; // lock tokens by port tag
    std::uint64_t last_deferred_{0};
    DoneHandler close_handler_{};
    SessionRequests requests_;
    const core::Anchor<LockedSession> anchor_{*this};
};

} // namespace sessionq::servicebus
