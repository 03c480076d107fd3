#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "amqp/codec/delivery_codec.hpp"
#include "amqp/link.hpp"
#include "ports/endpoint.hpp"
#include "ports/session_link.hpp"
#include "servicebus/hub.hpp"

namespace sessionq::servicebus {

/// One asking for a session, and the session that came of it: a receiver link, kept by the broker
/// as the lease. Bound to the loop.
class LinkCore final : public std::enable_shared_from_this<LinkCore>, private amqp::LinkListener {
public:
    using AcceptDone = std::function<void(std::optional<Failure>)>;

    LinkCore(std::shared_ptr<Hub> hub, ports::AcceptRequest request)
        : hub_{std::move(hub)}, request_{std::move(request)} {
        hub_->enter();
    }
    ~LinkCore() override;
    LinkCore(const LinkCore&) = delete;
    LinkCore& operator=(const LinkCore&) = delete;

    [[nodiscard]] static amqp::Map to_map(const Properties& properties);

    // as an accept
    /// `done` runs once, by a later turn, unless the asking is abandoned.
    void ask(AcceptDone done);
    /// No answer is wanted any more. The broker is told at once, so that it stops looking; a
    /// session it has given meanwhile is free by that (R19).
    void abandon_ask();

    // as a link
    [[nodiscard]] const std::string& session_id() const noexcept { return session_id_; }
    [[nodiscard]] ports::LockGrant initial_lock() const noexcept { return initial_lock_; }
    void set_events(ports::LinkEvents& events);
    void add_credit(std::uint32_t count);
    void drain();
    void settle(ports::Delivery& delivery, ports::Settlement&& settlement);
    void renew_lock(Deadline deadline, ports::SessionLink::LockHandler handler);
    void get_state(Deadline deadline, ports::SessionLink::StateHandler handler);
    void set_state(const std::optional<std::string>& state, Deadline deadline,
                   ports::SessionLink::DoneHandler handler);
    void receive_deferred(const std::vector<std::int64_t>& sequences, Deadline deadline,
                          ports::SessionLink::DeliveriesHandler handler);
    void close(ports::SessionLink::DoneHandler handler);
    /// The link is destroyed: closes it, says nothing more.
    void destroy() noexcept;

private:
    enum class Phase : std::uint8_t { idle, asking, held, closing, over };

    void on_link_open() override;
    void on_link_closed(const amqp::Condition& condition, bool closed) override;
    void on_link_gone(const amqp::Condition& condition) override;
    void on_drained() override;
    void on_delivery(amqp::DeliveryHandle delivery) override;
    void on_disposition(amqp::DeliveryHandle delivery) override;

    void attach();
    void granted();
    void over(const amqp::Condition& condition);
    void finish_ask(std::optional<Failure> failure);
    void let_go() noexcept;
    void fail_settlements(const Failure& why);
    /// False: it was answered before.
    bool forget_settling(const ports::Delivery& delivery);
    void settle_deferred(ports::Delivery& delivery, const core::Uuid& token,
                         const ports::Settlement& settlement);
    [[nodiscard]] ports::DeliveryPtr make_delivery(amqp::ReceivedDelivery&& received,
                                                   std::size_t bytes, std::uint64_t tag,
                                                   bool settled);
    /// The broker says until when, by its clock, in answer to what was asked at `asked`.
    [[nodiscard]] ports::LockGrant take_lock(WallTime until, TimePoint asked);
    /// The broker says that the lock is over.
    void note_lock_over();
    [[nodiscard]] Deadline request_deadline() const { return hub_->default_deadline(); }
    template <typename Then>
    void manage(std::string operation, amqp::Map body, Deadline deadline, Then then);

    const std::shared_ptr<Hub> hub_;
    const ports::AcceptRequest request_;
    AcceptDone done_{};
    Phase phase_{Phase::idle};
    bool dead_{false};
    bool given_back_{false}; // by close: nothing but answers is told from then on
    std::string link_name_{};
    std::string session_id_{};
    ports::LockGrant initial_lock_{};
    std::optional<WallTime> locked_until_{}; // by the broker's clock, as it said last
    TimePoint lock_asked_{};
    std::uint32_t lessons_{0}; // of the lock clock's that the lease goes by
    ports::LinkEvents* events_{nullptr};
    std::optional<Failure> untold_loss_{}; // it came before there was anybody to tell
    std::shared_ptr<SharedSession> session_{};
    amqp::ReceiverLinkPtr link_{};
    std::vector<ports::Delivery*>
        settling_{}; // in the order of the broker's answers, from first_settling_ on
    std::size_t first_settling_{0};
    std::unordered_map<std::uint64_t, core::Uuid> deferred_{}; // lock tokens by port tag
    std::uint64_t last_deferred_{0};
    ports::SessionLink::DoneHandler close_handler_{};
};

} // namespace sessionq::servicebus
