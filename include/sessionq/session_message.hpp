#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <sessionq/operation_context.hpp>
#include <sessionq/received_message.hpp>

namespace sessionq {

namespace client {
class ReceiverGrip;
struct HeldDelivery;
} // namespace client

/// A message received from a session, and the one chance to say what becomes of it (R8). Move-only.
/// One that is destroyed unsettled stays locked with its session and returns to the broker,
/// uncounted, when the receiver is closed or the lease ends.
///
/// Settling blocks until the broker has confirmed, at most until the deadline in scope or, without
/// one, for `ClientOptions::operation_timeout`. The decision falls with the call: after one that
/// ended with `timeout`, `cancelled` or `connection_lost` the outcome is unknown and a second try
/// is `already_settled`.
///
/// Errors of the settling calls: already_settled, lock_lost (also: the receiver is closed) and
/// not_supported, at once and without asking the broker; then the broker's (see `Errc`),
/// message_not_found, and the reasons for which a `SessionReceiver` is held no more.
///
/// Where the broker cannot keep them (README, "Brokers"), the properties changed by an abandon and
/// the reason and description of a dead letter are left out.
///
/// May outlive its receiver; settling then fails with `lock_lost`.
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: safe, except for moving; of several settling calls one wins.
class SessionMessage {
public:
    SessionMessage(SessionMessage&& other) noexcept;
    SessionMessage& operator=(SessionMessage&& other) noexcept;
    ~SessionMessage();

    [[nodiscard]] const ReceivedMessage& message() const noexcept;
    [[nodiscard]] std::string_view text() const noexcept { return message().text(); }
    [[nodiscard]] std::int64_t sequence_number() const noexcept {
        return message().sequence_number();
    }

    /// Whether it was settled, or needs none (`receive_and_delete`).
    [[nodiscard]] bool settled() const noexcept;

    /// Done: the broker removes it.
    void complete(const OperationContext& context = OperationContext::current());

    /// Back to the broker, counted as a delivery.
    void abandon(Properties properties_to_modify = {},
                 const OperationContext& context = OperationContext::current());

    /// Back to the broker as if never delivered: its delivery count does not rise. Azure Service
    /// Bus has no word for that where the message was received as a deferred one: there it is
    /// abandoned.
    void release(const OperationContext& context = OperationContext::current());

    /// Set aside until `SessionReceiver::receive_deferred` asks for its sequence number. Not where
    /// the broker cannot defer (not_supported).
    void defer(Properties properties_to_modify = {},
               const OperationContext& context = OperationContext::current());

    /// To the dead-letter sub-queue. Not where the broker has none (not_supported).
    void dead_letter(std::string reason = {}, std::string description = {},
                     Properties properties_to_modify = {},
                     const OperationContext& context = OperationContext::current());

    /// For sessionq's own parts.
    SessionMessage(std::shared_ptr<client::ReceiverGrip> grip,
                   std::shared_ptr<client::HeldDelivery> held) noexcept;
    [[nodiscard]] const std::shared_ptr<client::ReceiverGrip>& grip() const noexcept {
        return grip_;
    }
    [[nodiscard]] const std::shared_ptr<client::HeldDelivery>& held() const noexcept {
        return held_;
    }

private:
    std::shared_ptr<client::ReceiverGrip> grip_;
    std::shared_ptr<client::HeldDelivery> held_;
};

} // namespace sessionq
