// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "broker/consumer_target.hpp"
#include "server/attach_decision.hpp"
#include "server/peer.hpp"
#include "server/peer_link.hpp"
#include "server/settlement.hpp"

namespace sessionq::server {

/// A receiver link of the peer. Asks the broker for a session, or for a share of a queue without
/// sessions. Sends messages as the peer's credit and reading speed allow. Destroying the feed
/// releases a session's messages without raising their delivery counts. Messages of an entity
/// without sessions stay locked until their locks end.
class MessageFeed final : public PeerLink, private SendRoom::Waiter {
public:
    MessageFeed(PeerLinkOwner& owner, Peer& peer, amqp::SenderLinkPtr link, broker::QueuePtr queue,
                AttachDecision wanted);
    ~MessageFeed() override;

    /// Asks the broker. The attach is answered when the broker answers. May destroy the feed.
    void start();

    void on_flow() override;
    void on_disposition(amqp::DeliveryHandle delivery) override;
    void on_link_gone(const amqp::Condition& why) override;

private:
    class Target;
    /// The part of the decision that is needed once the link is kept.
    struct Wanted {
        broker::ReceiveMode mode;
        SessionFilter session;
        Duration wait;
        int priority;
    };

    void resume() override { pump(); }
    [[nodiscard]] amqp::Link& link() noexcept override { return *link_; }
    void on_refused(const Failure& why);
    void on_lost(const Failure& why);
    void open(broker::ConsumerPtr consumer);
    void pump();
    [[nodiscard]] std::uint32_t room();
    void hold_back(const std::vector<broker::Delivered>& deleted);
    void await_commit();
    void send_held_back(std::size_t count);
    [[nodiscard]] bool send(const broker::Delivered& delivered, broker::Instant now);
    void answer(amqp::DeliveryHandle delivery, const amqp::Outcome& said,
                std::optional<Errc> failed_with);
    /// The outcome that the peer gives a delivery, with the decision.
    struct Said {
        amqp::Outcome outcome{};
        std::optional<SettlementDecision> decision{};
    };
    [[nodiscard]] static Said read(amqp::DeliveryHandle delivery);
    /// The same, of an outcome with details. The deliveries of one disposition share it: it is
    /// read, and its texts are kept, once.
    [[nodiscard]] std::shared_ptr<const Said> read_details(amqp::DeliveryHandle delivery);
    void settle(amqp::DeliveryHandle delivery, const Said& said);
    void change_unsettled(std::ptrdiff_t by) noexcept;
    /// Returns how many messages may be pulled for the peer. Zero if the peer lowers its credit
    /// below the number of held-back messages.
    [[nodiscard]] std::uint32_t free_credit() const {
        const auto held = static_cast<std::uint32_t>(held_back_.size());
        return std::max(link_->credit(), held) - held;
    }

    Peer& peer_;
    amqp::SenderLinkPtr link_;
    const broker::QueuePtr queue_;
    Wanted wanted_;
    std::shared_ptr<Target> target_;
    broker::OperationId wait_{0};
    broker::ConsumerPtr consumer_{};
    const std::uint64_t holder_;
    std::uint64_t sent_{0};
    std::size_t unsettled_{0};  // sent and not settled, or held back
    bool is_interested_{false}; // the queue notifies, or has notified, this feed of work
    // deleted at delivery, but the deletion is not durable yet
    std::vector<broker::Delivered> held_back_{};
    bool awaits_commit_{false};             // of some held-back messages
    std::unique_ptr<const Failure> loss_{}; // reported once `held_back_` is empty
    // Of the disposition that is being told; null between two tasks of the loop.
    std::shared_ptr<const std::string> told_state_{};
    std::shared_ptr<const Said> told_{};
    const std::shared_ptr<const MessageFeed*> self_{
        std::make_shared<const MessageFeed*>(this)}; // for callbacks that may outlive the feed
};

} // namespace sessionq::server
