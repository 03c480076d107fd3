// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <sessionq/call_options.hpp>
#include <sessionq/client.hpp>
#include <sessionq/error.hpp>
#include <sessionq/locked_message.hpp>
#include <sessionq/result.hpp>
#include <sessionq/sub_queue.hpp>

namespace sessionq::detail::client {
class HeldSession;
struct Access;
} // namespace sessionq::detail::client

namespace sessionq::detail {
struct GiveTheReceiverAName;
} // namespace sessionq::detail

namespace sessionq::inline v1 {

/// How a `Receiver` receives. An aggregate for designated initialisers. A bad value throws
/// `Error{Errc::invalid_option}` naming the member.
struct ReceiverOptions {
    /// Receive from this sub-queue of the entity. Default none: from the entity itself.
    SubQueue sub_queue{SubQueue::none};

    /// True: the broker removes messages when it delivers them, and they need no settling. Messages
    /// in transit or prefetched are lost with the receiver or its connection. Default false.
    bool receive_and_delete{false};

    /// True: the receive thread renews the locks of messages, even if the application's threads are
    /// busy. False: only `LockedMessage::renew_lock` renews them. Default true.
    bool auto_renew{true};

    /// How long the lock of a message is renewed after `receive` has returned the message. Then the
    /// lock ends and the message returns to the broker, so that a consumer that hangs does not keep
    /// it. While a prefetched message waits for `receive`, its lock is renewed for at most this
    /// time, too. Range: zero or more. Zero: no limit. Default 5 min.
    Duration max_lock_renewal{std::chrono::minutes{5}};

    /// How many messages the receiver gets in advance, so that `receive` need not wait for the
    /// broker. These messages are locked, and no other consumer gets them. Range: 0 to 10,000.
    /// Zero: none, and `receive` asks the broker for the messages that it needs. Default 0.
    std::uint32_t prefetch{0};

    /// If the broker has priorities, receivers with a higher one are served first. Default 0.
    int priority{0};
};

/// Receives the messages of an entity without sessions: a queue, a subscription, or the dead-letter
/// sub-queue of any entity. Receivers of one entity share its messages. Each message has a lock of
/// its own. The application may work on several messages at once, so their order is not kept.
/// Move-only.
///
/// Example:
///
///     Receiver dead = Receiver::open(client, "orders", {.sub_queue = SubQueue::dead_letter});
///     for (LockedMessage& message : dead.receive(100, std::chrono::seconds{1})) {
///         const auto& why = message.message().facts().dead_letter;
///         std::cout << message.text() << ": " << (why ? why->reason : "") << '\n';
///         message.complete();
///     }
///     dead.close();
///
/// Blocking: functions wait for the broker's answer until the deadline of the call (`CallOptions`).
/// They end with `cancelled` when a stop token of the call fires.
///
/// Loss: when the link to the entity ends, every function that asks the broker, except `close`,
/// fails with the reason. `loss` returns the reason: connection_lost, entity_not_found,
/// entity_disabled, unauthorized (the right to the entity was withdrawn), or cancelled (this side
/// closed the receiver). To go on, open a new receiver. The messages of the lost one return to the
/// broker when their locks end. If the lock of a single message ends, the receiver is not lost:
/// settling that message fails with lock_lost.
///
/// Lifetimes: a receiver keeps its client alive. Closing or destroying it returns its messages.
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: safe, except for moving and destroying. Simultaneous calls of `receive` are
/// served in turn.
class Receiver {
public:
    /// Opens a link to the entity. Messages come when `receive` asks for them, or in advance with
    /// `ReceiverOptions::prefetch`.
    /// Errors: the broker's (see `Errc`), invalid_option (names the member), not_supported (the
    /// broker has no such sub-queue). In particular invalid_argument (`entity` must have 1 to 260
    /// characters) and session_required (the entity has sessions: use a `SessionReceiver`).
    [[nodiscard]] static Receiver open(const Client& client, const std::string& entity,
                                       ReceiverOptions options = {}, const CallOptions& call = {});

    Receiver(Receiver&& other) noexcept;
    Receiver& operator=(Receiver&& other) noexcept;

    /// Returns unsettled messages to the broker in the background and does not wait.
    ~Receiver();

    /// The name of the entity, with its sub-queue.
    [[nodiscard]] const std::string& entity() const;

    /// Fires when the receiver is lost or closed. Its callbacks run one after another on a thread
    /// that the client keeps for them.
    [[nodiscard]] std::stop_token stop_token() const;

    /// Why the receiver was lost or closed. Nothing while it is open.
    [[nodiscard]] std::optional<Failure> loss() const;

    /// Returns the next messages, at most `max_messages`, as soon as there is one. Returns none
    /// after `wait`, or at the deadline if that is sooner. If messages come after a call gave up,
    /// the next call gets them.
    ///
    /// `max_messages`: range 1 to 10,000. `wait`: range zero or more. Zero: return the messages
    /// that the broker has now. Duration::max(), the default: wait until the deadline.
    ///
    /// Errors: invalid_argument (a value is out of range), invalid_state (called on a receive
    /// thread), cancelled (a stop token fired, or the receiver was closed); if the receiver is
    /// lost: connection_lost, entity_not_found, entity_disabled, unauthorized.
    [[nodiscard]] std::vector<LockedMessage> receive(std::size_t max_messages,
                                                     Timeout wait = Duration::max(),
                                                     const CallOptions& call = {}) &;
    /// Does not compile for a temporary receiver. It would end with the statement, and so would the
    /// locks of its messages. Give the receiver a name.
    detail::GiveTheReceiverAName receive(std::size_t, Timeout = {},
                                         const CallOptions& = {}) && = delete;

    /// Returns the next message as soon as there is one. Returns nothing after `wait`, or at the
    /// deadline if that is sooner.
    /// `wait`: range zero or more. Zero: only a message that the broker has now. Duration::max(),
    /// the default: wait until the deadline.
    /// Errors: invalid_argument (`wait` is negative), invalid_state (called on a receive thread),
    /// cancelled (a stop token fired, or the receiver was closed); if the receiver is lost:
    /// connection_lost, entity_not_found, entity_disabled, unauthorized.
    [[nodiscard]] std::optional<LockedMessage> receive_one(Timeout wait = Duration::max(),
                                                           const CallOptions& call = {});

    /// Returns the deferred messages with these sequence numbers, in the order of the numbers, all
    /// or none. Without numbers it returns none.
    /// Errors: the broker's (see `Errc`; also if the receiver is lost or closed), not_supported
    /// (the broker cannot defer), message_not_found (there is no such message for one of the
    /// numbers), message_too_large (the messages together are more than the broker puts into one
    /// answer; `sessionqd` puts up to 2 MiB into one, and any single message).
    [[nodiscard]] std::vector<LockedMessage> receive_deferred(
        std::vector<std::int64_t> sequence_numbers, const CallOptions& call = {}) &;
    /// Does not compile for a temporary receiver, because its messages would lose their locks at
    /// the end of the statement. Give the receiver a name.
    detail::GiveTheReceiverAName receive_deferred(std::vector<std::int64_t>,
                                                  const CallOptions& = {}) && = delete;

    /// Stops the flow of messages, and then returns unsettled messages to the broker. Their
    /// deliveries do not count. With `receive_and_delete`, messages in transit are lost. Messages
    /// of `receive_deferred` stay locked until their locks end. If the broker does not answer,
    /// closing ends after 5 s. If the call ends before that, closing continues in the background.
    /// Returns at once if the receiver is closed or lost.
    /// Errors: invalid_state (called on a receive thread), timeout, cancelled.
    void close(const CallOptions& call = {});

    // The same for programs that take errors as values. `Result` says what holds for all.

    /// Opens a link to the entity. Does what `open` does, and returns the failure instead of
    /// throwing it.
    static Result<Receiver> try_open(const Client& client, const std::string& entity,
                                     ReceiverOptions options = {},
                                     const CallOptions& call = {}) noexcept;

    /// Returns the next messages, at most `max_messages`, as soon as there is one. Returns none
    /// after `wait`, or at the deadline if that is sooner. Does what `receive` does, and returns
    /// the failure instead of throwing it.
    Result<std::vector<LockedMessage>> try_receive(std::size_t max_messages,
                                                   Timeout wait = Duration::max(),
                                                   const CallOptions& call = {}) & noexcept;

    /// Returns the next message as soon as there is one. Returns nothing after `wait`, or at the
    /// deadline if that is sooner: a result that holds an empty optional. Does what `receive_one`
    /// does, and returns the failure instead of throwing it.
    Result<std::optional<LockedMessage>> try_receive_one(Timeout wait = Duration::max(),
                                                         const CallOptions& call = {}) noexcept;

    /// Returns the deferred messages with these sequence numbers, all or none. Does what
    /// `receive_deferred` does, and returns the failure instead of throwing it.
    Result<std::vector<LockedMessage>> try_receive_deferred(
        std::vector<std::int64_t> sequence_numbers, const CallOptions& call = {}) & noexcept;

    /// Returns unsettled messages to the broker and waits for that. Does what `close` does, and
    /// returns the failure instead of throwing it.
    Result<void> try_close(const CallOptions& call = {}) noexcept;

private:
    friend struct detail::client::Access;

    explicit Receiver(std::shared_ptr<detail::client::HeldSession> session) noexcept;

    std::shared_ptr<detail::client::HeldSession> session_;
};

} // namespace sessionq::inline v1
