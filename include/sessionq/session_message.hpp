#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <sessionq/operation_context.hpp>
#include <sessionq/received_message.hpp>

namespace sessionq {

namespace client {
struct Access;
struct HeldDelivery;
class HeldSession;
} // namespace client

/// A message received from a session. Settle it once. Move-only.
///
/// Example:
///
///     for (SessionMessage& message : receiver.receive(10)) {
///         if (message.text().empty()) {
///             message.dead_letter("Empty");
///         } else {
///             message.complete();
///         }
///     }
///
/// Settling waits for the broker's confirmation, until the deadline in scope. Without a deadline,
/// `ClientOptions::operation_timeout` applies. The call decides the message: after `timeout`,
/// `cancelled` or `connection_lost` the outcome is unknown, and a second attempt is
/// `already_settled`.
///
/// Errors of the settling functions: already_settled, lock_lost (also: the receiver is closed) and
/// not_supported, at once and without asking the broker. Also the broker's (see `Errc`),
/// message_not_found, and the reasons why a `SessionReceiver` lost its session.
///
/// Some brokers keep no properties changed by an abandon and no dead-letter reason and description
/// (README, "Brokers"). They are left out there.
///
/// Lifetimes: a message destroyed without settling stays locked with its session. It returns to the
/// broker, uncounted, when the receiver is closed or the lock ends. A message may outlive its
/// receiver. Settling it then fails with `lock_lost`.
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: safe, except for moving. Of several settling calls one wins.
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

    /// Whether it was settled, or needs no settling (`receive_and_delete`).
    [[nodiscard]] bool settled() const noexcept;

    /// The broker removes the message.
    void complete(const OperationContext& context = OperationContext::current());

    /// The message returns to the broker, and the delivery counts.
    void abandon(Properties properties_to_modify = {},
                 const OperationContext& context = OperationContext::current());

    /// The message returns to the broker, and the delivery does not count. Azure Service Bus cannot
    /// release a message received by `receive_deferred`. It is abandoned there.
    void release(const OperationContext& context = OperationContext::current());

    /// The broker sets the message aside until `SessionReceiver::receive_deferred` asks for its
    /// sequence number. Errors: also not_supported (the broker cannot defer).
    void defer(Properties properties_to_modify = {},
               const OperationContext& context = OperationContext::current());

    /// The message goes to the dead-letter queue. Errors: also not_supported (the broker has none).
    void dead_letter(std::string reason = {}, std::string description = {},
                     Properties properties_to_modify = {},
                     const OperationContext& context = OperationContext::current());

private:
    friend struct client::Access;

    SessionMessage(std::shared_ptr<client::HeldSession> session,
                   std::shared_ptr<client::HeldDelivery> delivery) noexcept;

    std::shared_ptr<client::HeldSession> session_;
    std::shared_ptr<client::HeldDelivery> delivery_;
};

} // namespace sessionq
