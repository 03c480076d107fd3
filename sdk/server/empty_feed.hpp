// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "server/attach_decision.hpp"
#include "server/peer_link.hpp"

namespace sessionq::server {

/// Azure Service Bus keeps messages here that could not be forwarded. This broker keeps those in
/// the dead-letter queue of the entity that they came from, so here there are none.
inline constexpr std::string_view transfer_sub_queue = "/$Transfer/$DeadLetterQueue";

/// The entity whose sub-queue of transfers this is. Another node stays as it is.
[[nodiscard]] constexpr std::string_view owner_of_transfers(std::string_view node) noexcept {
    node.remove_suffix(node.ends_with(transfer_sub_queue) ? transfer_sub_queue.size() : 0);
    return node;
}

/// A receiver link of the peer to a sub-queue that is always empty.
class EmptyFeed final : public PeerLink {
public:
    EmptyFeed(PeerLinkOwner& owner, amqp::SenderLinkPtr link, std::string entity)
        : PeerLink{owner, std::string{link->name()}, std::move(entity), Rights::listen(), false},
          link_{std::move(link)} {
        link_->set_listener(this);
        link_->open(echo_attach(link_->remote(), unlimited_messages));
    }

    void on_flow() override {
        if (link_->is_draining()) {
            link_->drained();
        }
    }

    void on_disposition(amqp::DeliveryHandle delivery) override { delivery.settle(); }

private:
    [[nodiscard]] amqp::Link& link() noexcept override { return *link_; }

    amqp::SenderLinkPtr link_;
};

} // namespace sessionq::server
