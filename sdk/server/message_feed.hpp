#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "broker/consumer_target.hpp"
#include "server/attach_decision.hpp"
#include "server/peer.hpp"
#include "server/peer_link.hpp"

namespace sessionq::server {

/// A receiver of the peer's: asks the broker for a session, or for a share in a queue without
/// sessions, and sends what it gets within the peer's credit and as fast as the peer reads.
/// Destroying it gives up what it holds, uncounted.
class MessageFeed final : public PeerLink {
public:
    MessageFeed(PeerLinkOwner& owner, Peer& peer, amqp::SenderLinkPtr link, broker::QueuePtr queue,
                AttachDecision wanted);
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
    void hold_back(const std::vector<broker::Delivered>& deleted);
    void await_commit();
    void send_held_back(std::size_t count);
    void send(const broker::Delivered& delivered, broker::Instant now);
    void answer(amqp::DeliveryHandle delivery, const amqp::Outcome& said,
                std::optional<Errc> failed_with);
    void change_in_hand(std::ptrdiff_t by) noexcept;
    /// What may be taken from the queue for the peer.
    [[nodiscard]] std::uint32_t free_credit() const {
        return link_->credit() - static_cast<std::uint32_t>(held_back_.size());
    }

    Peer& peer_;
    amqp::SenderLinkPtr link_;
    const broker::QueuePtr queue_;
    AttachDecision wanted_;
    std::shared_ptr<Target> target_;
    broker::OperationId wait_{0};
    broker::ConsumerPtr consumer_{};
    const std::uint64_t holder_;
    std::uint64_t sent_{0};
    std::size_t in_hand_{0};          // sent and not settled, or held back
    std::size_t typical_bytes_{1024}; // of a message, as seen last
    bool is_interested_{false};       // the queue will tell, or has told, of work
    timing::Timer retry_;             // the peer's session window says nothing when it opens
    std::vector<broker::Delivered> delivered_{};
    std::vector<broker::Delivered>
        held_back_{};               // deleted with their delivery, and that is not durable yet
    bool awaits_commit_{false};     // of some of them
    std::optional<Failure> loss_{}; // to be said after them
    const std::shared_ptr<const MessageFeed*> self_{
        std::make_shared<const MessageFeed*>(this)}; // for those who may come too late
};

} // namespace sessionq::server
