// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "broker/browser_target.hpp"
#include "server/attach_decision.hpp"
#include "server/peer.hpp"
#include "server/peer_link.hpp"

namespace sessionq::server {

/// A receiver link of the peer that browses (distribution-mode `copy`). Sends copies of the
/// messages in order, and of new ones as they arrive. They are settled, so nothing that the peer
/// says of them has an effect. Leaves out deferred and scheduled messages, which no receiver gets.
class BrowseFeed final : public PeerLink, private SendRoom::Waiter {
public:
    BrowseFeed(PeerLinkOwner& owner, Peer& peer, amqp::SenderLinkPtr link, broker::QueuePtr queue,
               const AttachDecision& wanted);
    ~BrowseFeed() override;

    /// Answers the attach.
    void start();

    void on_flow() override { pump(); }
    void on_disposition(amqp::DeliveryHandle) override {}

private:
    class Target;

    void resume() override { pump(); }
    [[nodiscard]] amqp::Link& link() noexcept override { return *link_; }
    void pump();
    /// Returns how many messages may be sent now.
    [[nodiscard]] std::uint32_t room();
    /// Returns how many bytes it has taken.
    std::size_t send(const ReceivedMessage& message, broker::Instant now);
    /// The same in a turn: the next one of a long search, or after a wait.
    void pump_soon();
    void await_message();
    void end_wait();

    Peer& peer_;
    amqp::SenderLinkPtr link_;
    const broker::QueuePtr queue_;
    broker::BrowseSpec next_{};        // the next search
    std::shared_ptr<Target> target_{}; // null: no wait
    broker::OperationId wait_{0};
    bool searches_in_turns_{false}; // or will look in a turn
    std::uint64_t sent_{0};
    const std::shared_ptr<const BrowseFeed*> self_{
        std::make_shared<const BrowseFeed*>(this)}; // for callbacks that may outlive the feed
};

} // namespace sessionq::server
