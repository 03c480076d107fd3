// SPDX-License-Identifier: MIT
#include "groups/receiver_channel.hpp"

#include <utility>

#include "amqp/codec/encoder.hpp"
#include "core/uuid.hpp"

namespace sessionq::groups {
namespace {

using amqp::Value;

constexpr std::uint64_t selector_code = 0x0000468C00000004; // apache.org:selector-filter:string

amqp::Attach attach_for(const Dialect& dialect, const ReceiverSettings& terms,
                        std::string_view name) {
    amqp::Attach attach{.source = {.address = terms.entity},
                        .target = {.address = std::string{name}},
                        .sender_mode = amqp::SenderSettleMode::unsettled,
                        .receiver_mode = dialect.settles_in_turn ? amqp::ReceiverSettleMode::second
                                                                 : amqp::ReceiverSettleMode::first};
    if (terms.session_id) {
        attach.source.filter = amqp::encode(Value::map(
            {{Value::symbol("jms-selector"),
              Value::described(selector_code, selector_for(dialect, *terms.session_id))}}));
    }
    // Always sent: Broker-J serves a consumer without a priority before all others.
    attach.properties = amqp::encode(
        Value::map({{Value::symbol("priority"), static_cast<std::int32_t>(terms.priority)}}));
    return attach;
}

} // namespace

std::unique_ptr<ReceiverChannel> ReceiverChannel::attach(amqp::Engine& engine,
                                                         const Dialect& dialect,
                                                         const ReceiverSettings& terms,
                                                         ReceiverEvents& owner,
                                                         core::ReceiveRoomPtr room) {
    amqp::SessionPtr session = engine.begin_session(std::move(room));
    amqp::ReceiverLinkPtr link =
        session ? session->make_receiver("groups-" + core::Uuid::make().to_string()) : nullptr;
    if (link == nullptr) {
        return nullptr;
    }
    std::unique_ptr<ReceiverChannel> made{
        new ReceiverChannel{std::move(session), std::move(link), owner}};
    made->link_->open(attach_for(dialect, terms, made->link_->name()));
    return made;
}

ReceiverChannel::ReceiverChannel(amqp::SessionPtr session, amqp::ReceiverLinkPtr link,
                                 ReceiverEvents& owner)
    : owner_{owner}, session_{std::move(session)}, link_{std::move(link)} {
    session_->set_listener(this);
    link_->set_listener(this);
}

void ReceiverChannel::repeat_drain() {
    link_->add_credit(1);
    static_cast<void>(link_->drain());
}

void ReceiverChannel::on_link_open() {
    if (link_->remote().source.present) { // else the refusal follows
        owner_.on_attached();
    }
}

void ReceiverChannel::on_drained() { owner_.on_drained(); }

void ReceiverChannel::on_delivery(amqp::DeliveryHandle delivery, std::string_view encoded) {
    owner_.on_delivery(delivery, encoded);
}

void ReceiverChannel::on_disposition(amqp::DeliveryHandle delivery) {
    if (delivery.remote_settled()) {
        owner_.on_settled_by_broker(delivery);
    }
}

void ReceiverChannel::on_link_closed(const amqp::Condition& condition, bool) {
    owner_.on_lost(condition);
}
void ReceiverChannel::on_session_ended(const amqp::Condition& condition) {
    owner_.on_lost(condition);
}

} // namespace sessionq::groups
