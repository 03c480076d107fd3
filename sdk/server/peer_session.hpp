// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "amqp/engine/session.hpp"
#include "server/attach_decision.hpp"
#include "server/peer_link.hpp"

namespace sessionq::server {

class PeerConnection;

/// An AMQP session that the peer began, and its links. Some clients open one per link, others one
/// per connection.
class PeerSession final : public amqp::SessionListener, public PeerLinkOwner {
public:
    PeerSession(PeerConnection& connection, amqp::SessionPtr session);
    ~PeerSession() override;
    PeerSession(const PeerSession&) = delete;
    PeerSession& operator=(const PeerSession&) = delete;

    void on_sender(amqp::SenderLinkPtr link) override;
    void on_receiver(amqp::ReceiverLinkPtr link) override;
    void on_session_ended(const amqp::Condition& condition) override;

    void remove(PeerLink& link) override;
    /// Destroys at most so many links, and returns how many.
    std::size_t release(std::size_t most);

    [[nodiscard]] const std::vector<std::unique_ptr<PeerLink>>& links() const noexcept {
        return links_;
    }

private:
    /// Returns the link's purpose, or a refusal if the peer lacks rights or room for a link.
    [[nodiscard]] AttachDecision decide(const amqp::Link& link, bool peer_receives);
    template <typename Made>
    Made& keep(std::unique_ptr<Made> made);

    PeerConnection& connection_;
    amqp::SessionPtr session_;
    std::vector<std::unique_ptr<PeerLink>> links_{};
};

} // namespace sessionq::server
