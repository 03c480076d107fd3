// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "amqp/engine/link.hpp"
#include "server/rights.hpp"

namespace sessionq::server {

class PeerLink;

class PeerLinkOwner {
public:
    virtual ~PeerLinkOwner() = default;
    /// Destroys the link; the link's last call.
    virtual void remove(PeerLink& link) = 0;
};

/// A link that the peer attached.
class PeerLink : public amqp::LinkListener {
public:
    PeerLink(PeerLinkOwner& owner, std::string name, std::string entity, Rights needs,
             bool peer_sends)
        : owner_{owner},
          name_{std::move(name)},
          entity_{std::move(entity)},
          needs_{needs},
          peer_sends_{peer_sends} {}
    PeerLink(const PeerLink&) = delete;
    PeerLink& operator=(const PeerLink&) = delete;

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] bool peer_sends() const noexcept { return peer_sends_; }
    /// The entity whose rights the link needs; empty for none.
    [[nodiscard]] const std::string& entity() const noexcept { return entity_; }
    /// The link needs one of these.
    [[nodiscard]] Rights needs() const noexcept { return needs_; }

    /// Detaches the link with this reason, or refuses its attach if that is still unanswered.
    /// Destroys the link.
    void end(const amqp::Condition& why) {
        link().refuse(why);
        owner_.remove(*this);
    }

    void on_link_closed(const amqp::Condition&, bool) override {
        link().refuse({});
        owner_.remove(*this);
    }
    void on_link_gone(const amqp::Condition&) override { owner_.remove(*this); }

protected:
    [[nodiscard]] virtual amqp::Link& link() noexcept = 0;

    PeerLinkOwner& owner_;

private:
    const std::string name_;
    const std::string entity_;
    const Rights needs_;
    const bool peer_sends_;
};

} // namespace sessionq::server
