// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include <sessionq/call_options.hpp>
#include <sessionq/deadline.hpp>
#include <sessionq/received_message.hpp>

namespace sessionq {

namespace client {
struct Access;
struct HeldDelivery;
class MessageHolder;
} // namespace client

/// A message that the application has received by itself: from a `SessionReceiver` or `Receiver`,
/// or a deferred one in a handler (`SessionContext::receive_deferred`). The lock of its session
/// holds it (`SessionMessage`), or, from an entity without sessions, a lock of its own. Settle it
/// once. Move-only.
///
/// Example:
///
///     for (LockedMessage& message : receiver.receive(10)) {
///         if (message.text().empty()) {
///             message.dead_letter("Empty");
///         } else {
///             message.complete();
///         }
///     }
///
/// Settling waits for the broker's confirmation, until the deadline of the call (`CallOptions`).
/// The call decides the message: after `timeout`, `cancelled` or `connection_lost` the outcome is
/// unknown, and a second attempt is `already_settled`.
///
/// Errors of the settling functions: already_settled, lock_lost (also: the receiver is closed, or
/// the processor has left the session) and not_supported, at once and without asking the broker.
/// Also the broker's (see `Errc`), message_not_found, and the reasons why a `SessionReceiver` or
/// `Receiver` is lost.
///
/// Properties to modify are merged into the application properties. Names and texts are UTF-8, and
/// they have up to 64 KiB together. Otherwise the call fails at once with invalid_argument or
/// message_too_large, and the message can still be settled. A broker may also refuse them because
/// the message becomes too large for its entity.
///
/// Some brokers keep no properties changed by an abandon and no dead-letter reason and description
/// (README, "Brokers"). They are left out there.
///
/// Lifetimes: a message of a session that is destroyed without settling stays locked with it. One
/// with a lock of its own is not renewed any more, and its delivery counts. Both return to the
/// broker when the receiver is closed or the processor leaves the session, uncounted, or when the
/// lock ends. A message may outlive its receiver or processor. Settling it then fails with
/// `lock_lost`.
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: safe, except for moving. Of several settling calls one wins.
class LockedMessage {
public:
    LockedMessage(LockedMessage&& other) noexcept;
    LockedMessage& operator=(LockedMessage&& other) noexcept;
    ~LockedMessage();

    [[nodiscard]] const ReceivedMessage& message() const;
    [[nodiscard]] std::string_view text() const { return message().text(); }
    [[nodiscard]] std::int64_t sequence_number() const { return message().sequence_number(); }

    /// Whether it was settled, or needs no settling (`receive_and_delete`).
    [[nodiscard]] bool settled() const;

    /// When the lock that holds the message ends unless it is renewed. never() if the broker's
    /// locks have no time limit, and with `receive_and_delete`. On the monotonic clock.
    [[nodiscard]] Deadline lock_expires() const;

    /// Fires shortly before that lock ends, and when it is lost. Its callbacks run one after
    /// another on a thread that the client keeps for them.
    [[nodiscard]] std::stop_token stop_token() const;

    /// Renews the lock that holds the message, its own or its session's, and returns when it ends.
    /// Needed only if the receiver does not renew locks by itself.
    /// Errors: as for settling, and session_not_found.
    Deadline renew_lock(const CallOptions& call = {});

    /// The broker removes the message.
    void complete(const CallOptions& call = {});

    /// The message returns to the broker, and the delivery counts.
    void abandon(Properties properties_to_modify = {}, const CallOptions& call = {});

    /// The message returns to the broker, and the delivery does not count. Azure Service Bus cannot
    /// release a message received by `receive_deferred`. It is abandoned there.
    void release(const CallOptions& call = {});

    /// The broker sets the message aside until `receive_deferred` of a receiver asks for its
    /// sequence number. Errors: also not_supported (the broker cannot defer).
    void defer(Properties properties_to_modify = {}, const CallOptions& call = {});

    /// The message goes to the dead-letter queue. Reason and description are cut after 4,096
    /// characters each, and bytes that are not UTF-8 are replaced by U+FFFD.
    /// Errors: also not_supported (the broker has none).
    void dead_letter(std::string reason = {}, std::string description = {},
                     Properties properties_to_modify = {}, const CallOptions& call = {});

private:
    friend struct client::Access;

    LockedMessage(std::shared_ptr<client::MessageHolder> session,
                  std::shared_ptr<client::HeldDelivery> delivery) noexcept;

    std::shared_ptr<client::MessageHolder> session_;
    std::shared_ptr<client::HeldDelivery> delivery_;
};

} // namespace sessionq
