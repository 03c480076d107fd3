#pragma once

#include <memory>
#include <vector>

#include "broker/consumer_target.hpp"
#include "server/attach_decision.hpp"
#include "server/peer.hpp"
#include "server/peer_link.hpp"

namespace sessionq::server {

/// A receiver of the peer's: asks the broker for a session, or for a share in a queue without sessions, and sends what it gets within the peer's
/// credit and as fast as the peer reads. Destroying it gives up what it holds, uncounted.
class MessageFeed final : public PeerLink {
public:
    MessageFeed(PeerLinkOwner& owner, Peer& peer, amqp::SenderLinkPtr link, broker::QueuePtr queue, AttachDecision wanted);
    ~MessageFeed() override;

    /// Asks the broker; the attach is answered when it has answered. It may destroy the feed.
    void start();

    void resume() override;
    void on_flow() override;
    void on_disposition(amqp::DeliveryHandle delivery) override;

private:
    class Target;

    [[nodiscard]] amqp::Link& link() noexcept override { return *link_; }
    void on_granted(broker::ConsumerPtr consumer);
    void on_refused(const Failure& why);
    void on_lost(const Failure& why);
    void open(broker::ConsumerPtr consumer);
    void pump();
    [[nodiscard]] std::uint32_t room();
    void look_again();
    void send(const broker::Delivered& delivered, broker::Instant now);

    Peer& peer_;
    amqp::SenderLinkPtr link_;
    const broker::QueuePtr queue_;
    AttachDecision wanted_;
    std::shared_ptr<Target> target_;
    broker::OperationId wait_{0};
    broker::ConsumerPtr consumer_{};
    const std::uint64_t holder_;
    std::uint64_t sent_{0};
    std::size_t in_hand_{0};          // sent and not settled
    std::size_t typical_bytes_{1024}; // of a message, as seen last
    bool is_interested_{false};       // the queue will tell, or has told, of work
    timing::Timer retry_;             // the peer's session window says nothing when it opens
    std::vector<broker::Delivered> delivered_{};
};

} // namespace sessionq::server
