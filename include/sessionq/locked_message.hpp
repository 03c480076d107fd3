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
#include <sessionq/result.hpp>

namespace sessionq::detail::client {
struct Access;
struct HeldDelivery;
class MessageHolder;
} // namespace sessionq::detail::client

namespace sessionq::inline v1 {

/// A message that the application must settle by itself, once. `SessionReceiver` and `Receiver`
/// return it, and so does `SessionContext::receive_deferred` in a handler. The lock of its session
/// holds a message of a session (`SessionMessage`). Any other message has a lock of its own.
/// Move-only.
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
/// The first settling call decides the message, even if it fails with `timeout`, `cancelled` or
/// `connection_lost`. The outcome is then unknown, and a second call fails with `already_settled`.
/// A call that ends before the settlement is sent decides nothing: its stop token has fired, or
/// its deadline has passed. Then `settled` is false, and a second call can settle the message.
///
/// Errors of settling: already_settled, lock_lost (also: the receiver is closed, or the processor
/// has left the session) and not_supported come at once, before the broker is asked. The other
/// errors are the broker's (see `Errc`), message_not_found, and the reasons why a `SessionReceiver`
/// or `Receiver` is lost.
///
/// Properties to modify are merged into the application properties. Names and texts must be UTF-8.
/// Together they may have up to 64 KiB. Otherwise the call fails at once with invalid_argument or
/// message_too_large, and you can still settle the message. A broker may also refuse the properties
/// because the message becomes too large for its entity.
///
/// Some brokers cannot keep the properties of an abandoned message, or the reason and description
/// of a dead letter (sdk/docs/brokers.md). With such a broker these values are left out.
///
/// Lifetimes: if you destroy a message of a session without settling it, it stays locked with its
/// session. If a message with a lock of its own is destroyed, its lock is not renewed any more, and
/// its delivery counts. Both return to the broker when the lock ends. They return earlier, and
/// uncounted, when the receiver is closed or the processor leaves the session. A message may
/// outlive its receiver or processor. Settling it then fails with `lock_lost`.
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

    /// Whether a settling call has decided the message, or the message needs no settling
    /// (`receive_and_delete`). A call that ends before its settlement is sent decides nothing.
    [[nodiscard]] bool settled() const;

    /// When the lock that holds the message ends unless it is renewed. never() if the broker's
    /// locks have no time limit, and with `receive_and_delete`. On the monotonic clock.
    [[nodiscard]] Deadline lock_expires() const;

    /// Fires shortly before the lock that holds the message ends, and when that lock is lost. Its
    /// callbacks run one after another on a thread that the client keeps for them.
    [[nodiscard]] std::stop_token stop_token() const;

    /// Renews the lock that holds the message, its own or its session's, and returns when it ends.
    /// Needed only if the receiver does not renew locks by itself.
    /// Errors: the broker's (see `Errc`), already_settled, lock_lost (also: the receiver is closed,
    /// or the processor has left the session), message_not_found, session_not_found. In particular
    /// not_supported (the broker's locks are not renewed, or a processor holds the session and
    /// renews its lock).
    Deadline renew_lock(const CallOptions& call = {});

    /// The broker removes the message.
    /// Errors: the broker's (see `Errc`), already_settled, lock_lost (also: the receiver is closed,
    /// or the processor has left the session), message_not_found.
    void complete(const CallOptions& call = {});

    /// The message returns to the broker, and the delivery counts. `properties_to_modify` are
    /// merged into the application properties.
    /// Errors: the broker's (see `Errc`), already_settled, lock_lost (also: the receiver is closed,
    /// or the processor has left the session), message_not_found, message_too_large
    /// (`properties_to_modify` have more than 64 KiB). In particular invalid_argument (a name or
    /// text of them is not UTF-8).
    void abandon(Properties properties_to_modify = {}, const CallOptions& call = {});

    /// The message returns to the broker, and the delivery does not count. Azure Service Bus cannot
    /// release a message that came by `receive_deferred`, and abandons it instead.
    /// Errors: the broker's (see `Errc`), already_settled, lock_lost (also: the receiver is closed,
    /// or the processor has left the session), message_not_found.
    void release(const CallOptions& call = {});

    /// The broker sets the message aside until a receiver or handler asks for its sequence number
    /// with `receive_deferred`. `properties_to_modify` are merged into the application properties.
    /// Errors: the broker's (see `Errc`), already_settled, lock_lost (also: the receiver is closed,
    /// or the processor has left the session), message_not_found, message_too_large
    /// (`properties_to_modify` have more than 64 KiB). In particular invalid_argument (a name or
    /// text of them is not UTF-8) and not_supported (the broker cannot defer).
    void defer(Properties properties_to_modify = {}, const CallOptions& call = {});

    /// The message goes to the dead-letter queue. `reason` and `description` are cut after 4,096
    /// characters each, and bytes that are not UTF-8 are replaced by U+FFFD. `properties_to_modify`
    /// are merged into the application properties.
    /// Errors: the broker's (see `Errc`), already_settled, lock_lost (also: the receiver is closed,
    /// or the processor has left the session), message_not_found, message_too_large
    /// (`properties_to_modify` have more than 64 KiB). In particular invalid_argument (a name or
    /// text of them is not UTF-8) and not_supported (the broker has no dead-letter queues).
    void dead_letter(std::string reason = {}, std::string description = {},
                     Properties properties_to_modify = {}, const CallOptions& call = {});

    // The same for programs that take errors as values. `Result` says what holds for all.

    /// Renews the lock that holds the message, and returns when it ends. Does what `renew_lock`
    /// does, and returns the failure instead of throwing it.
    Result<Deadline> try_renew_lock(const CallOptions& call = {}) noexcept;

    /// The broker removes the message. Does what `complete` does, and returns the failure instead
    /// of throwing it.
    Result<void> try_complete(const CallOptions& call = {}) noexcept;

    /// The message returns to the broker, and the delivery counts. Does what `abandon` does, and
    /// returns the failure instead of throwing it.
    Result<void> try_abandon(Properties properties_to_modify = {},
                             const CallOptions& call = {}) noexcept;

    /// The message returns to the broker, and the delivery does not count. Does what `release`
    /// does, and returns the failure instead of throwing it.
    Result<void> try_release(const CallOptions& call = {}) noexcept;

    /// The broker sets the message aside until its sequence number is asked for. Does what `defer`
    /// does, and returns the failure instead of throwing it.
    Result<void> try_defer(Properties properties_to_modify = {},
                           const CallOptions& call = {}) noexcept;

    /// The message goes to the dead-letter queue. Does what `dead_letter` does, and returns the
    /// failure instead of throwing it.
    Result<void> try_dead_letter(std::string reason = {}, std::string description = {},
                                 Properties properties_to_modify = {},
                                 const CallOptions& call = {}) noexcept;

private:
    friend struct detail::client::Access;

    LockedMessage(std::shared_ptr<detail::client::MessageHolder> session,
                  std::shared_ptr<detail::client::HeldDelivery> delivery) noexcept;

    std::shared_ptr<detail::client::MessageHolder> session_;
    std::shared_ptr<detail::client::HeldDelivery> delivery_;
};

} // namespace sessionq::inline v1
