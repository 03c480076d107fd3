// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server/attach_decision.hpp"
#include "server/conditions.hpp"
#include "server/peer.hpp"
#include "server/peer_link.hpp"

namespace sessionq::server {

/// A sender link of the peer to a transaction coordinator. Rejects every transaction. The link
/// itself is accepted, because some clients attach it while they connect and never use it.
class TransactionRefusal final : public PeerLink {
public:
    TransactionRefusal(PeerLinkOwner& owner, const Peer& peer, amqp::ReceiverLinkPtr link)
        : PeerLink{owner, std::string{link->name()}, std::string{}, Rights::all(), true},
          link_{std::move(link)} {
        link_->set_listener(this);
        link_->open(echo_attach(link_->remote(), peer.limits.request_bytes));
        link_->add_credit(credit);
    }

    void on_delivery(amqp::DeliveryHandle delivery, std::string_view) override {
        delivery.settle({.kind = amqp::OutcomeKind::rejected,
                         .error = make_condition(condition::not_implemented, no_transactions)});
        link_->add_credit(1);
    }
    void on_disposition(amqp::DeliveryHandle delivery) override { delivery.settle(); }

private:
    static constexpr std::uint32_t credit = 10;

    [[nodiscard]] amqp::Link& link() noexcept override { return *link_; }

    amqp::ReceiverLinkPtr link_;
};

} // namespace sessionq::server
