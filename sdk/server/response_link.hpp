// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "server/attach_decision.hpp"
#include "server/peer.hpp"
#include "server/peer_link.hpp"

namespace sessionq::server {

/// A receiver link of the peer that reads a node's answers.
class ResponseLink final : public PeerLink {
public:
    ResponseLink(PeerLinkOwner& owner, Peer& peer, amqp::SenderLinkPtr link, std::string entity,
                 const std::string& node)
        : PeerLink{owner, std::string{link->name()}, std::move(entity), Rights::all(), false},
          peer_{peer},
          link_{std::move(link)} {
        link_->set_listener(this);
        const amqp::Attach remote = link_->remote();
        peer_.routes.add({.node = node,
                          .session = &link_->session(),
                          .address = remote.target.address,
                          .name = name(),
                          .link = this});
        link_->open(echo_attach(remote, unlimited_messages));
    }
    ~ResponseLink() override { peer_.routes.remove(*this); }

    /// Sends an answer settled, because some clients never send a disposition for it. The link
    /// keeps it until the peer grants credit.
    void send(std::string_view encoded) {
        const std::uint32_t number = ++sent_;
        const std::array<char, 4> tag{static_cast<char>(number >> 24U),
                                      static_cast<char>(number >> 16U),
                                      static_cast<char>(number >> 8U), static_cast<char>(number)};
        link_->send({tag.data(), tag.size()}, encoded, true);
    }

    void on_flow() override {
        if (link_->is_draining()) {
            link_->drained();
        }
    }
    void on_disposition(amqp::DeliveryHandle) override {}

private:
    [[nodiscard]] amqp::Link& link() noexcept override { return *link_; }

    Peer& peer_;
    amqp::SenderLinkPtr link_;
    std::uint32_t sent_{0};
};

} // namespace sessionq::server
