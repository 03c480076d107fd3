// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "amqp/codec/delivery_codec.hpp"
#include "amqp/engine/delivery.hpp"
#include "ports/session_link.hpp"
#include "servicebus/locked_session_machine.hpp"

namespace sessionq::detail::servicebus {

/// Brings messages of a session to its owner. Where credit followed the attach, they may come
/// before the owner listens: then they are kept, in their order. In every call the owner may
/// destroy the session, and this with it.
class SessionInbox {
public:
    struct Event {
        enum class Kind : std::uint8_t { delivery, drained, lock_uncertain };
        Kind kind{Kind::drained};
        amqp::DeliveryHandle delivery{};
        std::optional<Duration> lock{}; ///< of its own
        amqp::ReceivedDelivery received{};
        std::size_t bytes{0};
    };

    /// `share` counts the messages that are kept. Null: nothing does.
    explicit SessionInbox(core::ReceiveSharePtr share) noexcept : share_{std::move(share)} {}
    ~SessionInbox() { drop(); }
    SessionInbox(const SessionInbox&) = delete;
    SessionInbox& operator=(const SessionInbox&) = delete;

    [[nodiscard]] const core::ReceiveSharePtr& share() const noexcept { return share_; }
    void listen(ports::LinkEvents& owner) noexcept { owner_ = &owner; }
    /// Null before it listens.
    [[nodiscard]] ports::LinkEvents* owner() const noexcept { return owner_; }

    void put(Event&& event, LockedSessionMachine::Hearing when);
    /// Whether something is kept.
    [[nodiscard]] bool keeps() const noexcept { return kept_ != nullptr; }
    /// Tells the first that is kept.
    void tell_first();
    void drop() noexcept;

private:
    void tell(Event&& event);
    void count_off(const Event& event) noexcept;

    const core::ReceiveSharePtr share_;
    ports::LinkEvents* owner_{nullptr};
    std::unique_ptr<std::deque<Event>> kept_{}; // null: nothing is kept
};

/// Over the link a delivery's tag is its handle.
[[nodiscard]] inline std::uint64_t tag_of(amqp::DeliveryHandle delivery) noexcept {
    return reinterpret_cast<std::uint64_t>(delivery.raw());
}
[[nodiscard]] inline amqp::DeliveryHandle handle_of(std::uint64_t tag) noexcept {
    return amqp::DeliveryHandle{reinterpret_cast<amqp::Delivery*>(tag)};
}

[[nodiscard]] ports::DeliveryPtr make_delivery(ports::LinkEvents& owner,
                                               amqp::ReceivedDelivery&& received, std::size_t bytes,
                                               std::uint64_t tag, bool settled);

} // namespace sessionq::detail::servicebus
