// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "amqp/codec/encoded_content.hpp"
#include "amqp/engine/engine.hpp"
#include "groups/dialect.hpp"
#include "ports/endpoint.hpp"

namespace sessionq::groups {

/// The terms of a receiver link. Accepts with equal terms share a `GroupReceiver` and its link.
struct ReceiverSettings {
    std::string entity{};
    std::optional<std::string> session_id{}; ///< set: only this group, by a selector
    ports::ReceiveMode mode{ports::ReceiveMode::peek_lock};
    int priority{0};

    friend bool operator<(const ReceiverSettings& left, const ReceiverSettings& right) {
        return std::tie(left.entity, left.session_id, left.mode, left.priority) <
               std::tie(right.entity, right.session_id, right.mode, right.priority);
    }
};

/// The events of a `ReceiverChannel`, for its owner.
class ReceiverEvents {
public:
    virtual void on_attached() = 0;
    virtual void on_delivery(amqp::DeliveryHandle delivery, std::string_view encoded) = 0;
    virtual void on_settled_by_broker(amqp::DeliveryHandle delivery) = 0;
    virtual void on_drained() = 0;
    /// The link ended. This is the last event, and it comes once. The owner then destroys the
    /// channel.
    virtual void on_lost(const amqp::Condition& condition) = 0;

protected:
    ~ReceiverEvents() = default;
};

/// Attaches a receiver link on an AMQP session of its own, and passes the link's events to one
/// owner. Each `GroupReceiver` and `EntityLink` has a channel while it is attached. Destroying the
/// channel detaches the link. Bound to the loop.
class ReceiverChannel final : private amqp::SessionListener, private amqp::LinkListener {
public:
    /// Attaches a link whose messages stay within `room`. Returns null if the connection cannot
    /// take another link.
    [[nodiscard]] static std::unique_ptr<ReceiverChannel> attach(amqp::Engine& engine,
                                                                 const Dialect& dialect,
                                                                 const ReceiverSettings& terms,
                                                                 ReceiverEvents& owner,
                                                                 core::ReceiveRoomPtr room);
    ReceiverChannel(const ReceiverChannel&) = delete;
    ReceiverChannel& operator=(const ReceiverChannel&) = delete;

    [[nodiscard]] amqp::ReceiverLink& link() noexcept { return *link_; }
    /// Sends an unanswered drain again. It adds a credit first, so that there is credit to drain.
    void repeat_drain();
    /// The account of the messages that came over the link.
    [[nodiscard]] const core::ReceiveSharePtr& share() const noexcept { return session_->share(); }

private:
    ReceiverChannel(amqp::SessionPtr session, amqp::ReceiverLinkPtr link, ReceiverEvents& owner);

    void on_session_ended(const amqp::Condition& condition) override;
    void on_link_open() override;
    void on_link_closed(const amqp::Condition& condition, bool closed) override;
    void on_link_gone(const amqp::Condition&) override {} // `on_session_ended` follows
    void on_drained() override;
    void on_delivery(amqp::DeliveryHandle delivery, std::string_view encoded) override;
    void on_disposition(amqp::DeliveryHandle delivery) override;

    ReceiverEvents& owner_;
    amqp::SessionPtr session_;
    amqp::ReceiverLinkPtr link_; // destroyed before its session
};

} // namespace sessionq::groups
