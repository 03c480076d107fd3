// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/peer.hpp"
#include "server/peer_link.hpp"
#include "server/transfer.hpp"

namespace sessionq::server {

/// A sender link of the peer. Passes messages to the queue and answers each transfer with the
/// result. Decodes a large batch in turns.
class MessageIntake final : public PeerLink {
public:
    MessageIntake(PeerLinkOwner& owner, Peer& peer, amqp::ReceiverLinkPtr link,
                  broker::QueuePtr queue, std::string entity);
    ~MessageIntake() override;

    /// Answers the attach and grants credit.
    void start();

    void on_delivery(amqp::DeliveryHandle delivery, std::string_view encoded) override;
    [[nodiscard]] bool on_message_too_large() override;
    void on_disposition(amqp::DeliveryHandle delivery) override;

private:
    [[nodiscard]] amqp::Link& link() noexcept override { return *link_; }
    void answer(amqp::DeliveryHandle delivery, const amqp::Condition& refused);
    /// Confirms the delivery once its messages are where the entity forwards them. Returns false if
    /// they are there.
    [[nodiscard]] bool confirm_when_forwarded(amqp::DeliveryHandle delivery);
    /// Answers once the delivery's messages are durable.
    void confirm(amqp::DeliveryHandle delivery);
    /// A batch of which more is to be decoded, while the peer's next frame waits.
    struct Batch {
        amqp::DeliveryHandle delivery;
        std::string bytes;
        BatchDecoder decoder;
        Batch(amqp::DeliveryHandle of, std::string_view encoded, const Limits& limits)
            : delivery{of}, bytes{encoded}, decoder{bytes, limits} {}
        [[nodiscard]] std::size_t memory() const noexcept {
            return bytes.size() + decoder.memory();
        }
    };

    [[nodiscard]] amqp::Condition refusal_of_size(std::string_view encoded,
                                                  std::uint32_t format) const;
    void take_one(amqp::DeliveryHandle delivery, std::string_view encoded);
    void take_batch(amqp::DeliveryHandle delivery, std::string_view encoded);
    void decode_in_turns(amqp::DeliveryHandle delivery, std::string_view encoded);
    void decode_more();
    void take_whole();
    void take(amqp::DeliveryHandle delivery, core::Result<std::vector<MessageContentPtr>> messages);
    [[nodiscard]] amqp::Condition send(std::vector<MessageContentPtr> messages);
    /// A delivery was taken, and is answered later.
    void keep_waiting(amqp::DeliveryHandle delivery);
    void forget_waiting(std::uint32_t count) noexcept;
    void top_up();

    Peer& peer_;
    amqp::ReceiverLinkPtr link_;
    const broker::QueuePtr queue_;
    std::unique_ptr<Batch> batch_{};
    std::uint32_t unconfirmed_{0}; // accepted, but not forwarded or durable yet
    const std::shared_ptr<const MessageIntake*> self_{
        std::make_shared<const MessageIntake*>(this)}; // for callbacks that may outlive the link
};

} // namespace sessionq::server
