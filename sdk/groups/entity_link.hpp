// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "amqp/codec/delivery_codec.hpp"
#include "core/intrusive_list.hpp"
#include "core/weak_handle.hpp"
#include "groups/entity_link_machine.hpp"
#include "groups/plain_link.hpp"
#include "groups/receiver_channel.hpp"
#include "groups/receiver_context.hpp"
#include "groups/unsettled_messages.hpp"
#include "timing/timer.hpp"

namespace sessionq::groups {

/// Receives the messages of a queue without regard to their groups, for receivers and processors
/// without sessions. It has a receiver link of its own. `EntityOpening` makes it. The messages need
/// no order, so an abandoned or released message goes back to the broker at once. Performs the
/// decisions of its `EntityLinkMachine`. Bound to the loop.
class EntityLink final : public PlainLink, public core::ListHook<>, private ReceiverEvents {
public:
    /// `attached` is called once: with success, or with the failure.
    EntityLink(ReceiverContext& context, ReceiverSettings terms, DoneHandler attached);
    ~EntityLink() override;

    /// Attaches the link. Returns false if the connection has no room for another link. Then this
    /// link is of no use.
    [[nodiscard]] bool attach(amqp::Engine& engine);
    /// The endpoint is destroyed. The owner is told nothing.
    void forget_endpoint() noexcept;

    [[nodiscard]] const std::string& session_id() const noexcept override;
    [[nodiscard]] core::ReceiveSharePtr share() const override {
        return channel_ != nullptr ? channel_->share() : nullptr;
    }
    void add_credit(std::uint32_t count) override;
    void drain() override;
    void settle(ports::Delivery& delivery, ports::Settlement&& settlement) override;
    void close(DoneHandler handler) override;

private:
    using Action = EntityLinkMachine::Action;
    using Phase = EntityLinkMachine::Phase;

    void on_attached() override;
    void on_delivery(amqp::DeliveryHandle delivery, std::string_view encoded) override;
    void on_settled_by_broker(amqp::DeliveryHandle delivery) override;
    void on_drained() override;
    void on_lost(const amqp::Condition& condition) override;

    void perform(Action action);
    void on_time() { perform(machine_.on_time(loop_.now())); }
    void give(amqp::DeliveryHandle delivery, amqp::ReceivedDelivery received, std::size_t bytes);
    void answered() override { perform(machine_.answered(settlements_.empty())); }

    core::EventLoop& loop_;
    ReceiverContext* context_; // null once the endpoint is gone
    const ReceiverSettings terms_;
    EntityLinkMachine machine_{};
    std::unique_ptr<ReceiverChannel> channel_{};
    UnsettledMessages unsettled_{};
    timing::Timer timer_{timing::Timer::calling<&EntityLink::on_time>(this)};
};

/// Answers one accept of a queue without sessions. It waits for the connection, attaches an
/// `EntityLink`, and answers the accept with the link. `Endpoint::accept` makes it. The accept book
/// owns it until the accept is answered.
class EntityOpening final : public ports::Asking {
public:
    using Links = core::IntrusiveList<EntityLink>;

    EntityOpening(ReceiverContext& context, Links& links, ports::RequestId id,
                  ReceiverSettings terms)
        : context_{context}, links_{links}, id_{id}, terms_{std::move(terms)} {}

    /// Call it once the accept is in the context's book.
    void start();

private:
    void on_engine(const core::Result<amqp::Engine*>& engine);

    ReceiverContext& context_;
    Links& links_;
    const ports::RequestId id_;
    const ReceiverSettings terms_;
    std::unique_ptr<EntityLink> link_{};
    const core::Anchor<EntityOpening> anchor_{*this};
};

} // namespace sessionq::groups
