// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "broker/accept_spec.hpp"
#include "broker/browser_target.hpp"
#include "broker/consumer.hpp"
#include "broker/deletion.hpp"
#include "broker/delivered.hpp"
#include "broker/instant.hpp"
#include "broker/purgatory.hpp"
#include "broker/queue_options.hpp"
#include "broker/settlement.hpp"
#include "core/result.hpp"

namespace sessionq::broker {

class Entity;
class QueuePair;
class RuleBook;

/// The content of a queue at an instant.
struct QueueCounts {
    std::size_t active{0};    ///< available or locked by a consumer
    std::size_t deferred{0};  ///< deferred, locked by a consumer or not
    std::size_t scheduled{0}; ///< not due yet
    std::uint64_t bytes{0};
    std::size_t sessions{0};       ///< with messages, state or a holder
    std::size_t ready_sessions{0}; ///< an accept of the next session would be granted one of these
    TimePoint ready_since{TimePoint::max()}; ///< of the one that waits for longest; max: none
    std::size_t waiting_accepts{0};
    std::size_t waiting_browsers{0};
};

/// The result of a turn of looking at messages.
struct Peeked {
    std::vector<ReceivedMessage> messages{};
    std::int64_t searched_to{0}; ///< go on from this number
    bool is_complete{true};      ///< `max` are found, or there are no more
};

/// The interface of a queue, topic, subscription or dead-letter sub-queue. Held by
/// `std::shared_ptr`, so it outlives its deletion.
///
/// Thread-safe. Each call takes the queue's lock once, however many items it carries, and has taken
/// effect when it returns. Consumers are notified of the results before it returns, outside the
/// lock. `at` is the time of the call.
class Queue {
public:
    Queue(QueuePair& pair, Entity& entity) : pair_{pair}, entity_{entity} {}
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;

    [[nodiscard]] const std::string& name() const noexcept;
    [[nodiscard]] const QueueOptions& options() const noexcept;
    /// Of a dead-letter sub-queue: the kind of the entity that it belongs to.
    [[nodiscard]] EntityKind kind() const noexcept;

    /// Why nothing can be sent to it, or received from it, with any request. Empty: it can. Both
    /// fail with not_supported.
    [[nodiscard]] std::optional<Failure> find_send_fault() const;
    [[nodiscard]] std::optional<Failure> find_receive_fault() const;

    /// Null unless it is a subscription.
    [[nodiscard]] RuleBook* rules() noexcept;

    /// Enqueues all messages or none, and returns their sequence numbers. The number of a scheduled
    /// message is valid until it is due; then it gets a new one. Fails with session_required,
    /// invalid_argument, message_too_large, quota_exceeded (the queue or the disk is full) or
    /// not_supported (a dead-letter sub-queue).
    core::Result<std::vector<std::int64_t>> send(std::vector<MessageContentPtr> messages,
                                                 Instant at);
    core::Result<std::vector<std::int64_t>> send(std::vector<Message> messages, Instant at);

    /// A topic, or a queue that forwards, keeps a message until it is where it goes. `send` returns
    /// before if the rules of many subscriptions take long. This calls `done` once all messages
    /// that were sent before are there: under no lock, on another thread or on this one. Returns
    /// false, and never calls it, if they are there already.
    [[nodiscard]] bool when_forwarded(std::function<void()> done);

    /// Removes scheduled messages before they are due. Removes all, or none with message_not_found.
    core::Result<core::Done> cancel_scheduled(std::span<const std::int64_t> sequences, Instant at);

    /// Asks for a session. `target` gets the answer, during this call or later. A named session is
    /// granted even if it has no messages, and refused with session_locked_elsewhere while it is
    /// locked. Without a name, the session that has been ready longest is granted; if none is
    /// ready, the accept waits in line. Returns the id of the wait, or zero if it was answered.
    /// An ask that other entities share is answered by one of them (`AcceptSpec::claim`), and an
    /// answered one holds nobody up: its session goes to the next in line.
    OperationId accept(AcceptSpec spec, std::shared_ptr<ConsumerTarget> target, Instant at);

    /// Returns true if the wait is over and will not be answered. False: it was answered before, or
    /// is being answered.
    bool cancel_accept(OperationId id, Instant at);

    /// Deletes active messages that no consumer has received, the oldest first: a turn of it. Those
    /// of a locked session that its holder has not received go too. Deferred and scheduled messages
    /// stay. Fails with not_supported (a topic, or a queue that forwards) or server_busy.
    core::Result<Deleted> delete_some(const DeleteSpec& spec, Instant at);

    /// The same, until `max` are deleted, or `most_deleted`, or there are no more. Returns how many
    /// were. Other threads have the queue in between.
    core::Result<std::uint32_t> delete_messages(DeleteSpec spec, Instant at);

    /// Opens a consumer of an entity without sessions. Each message is locked on its own.
    core::Result<ConsumerPtr> open(ReceiveMode mode, int priority,
                                   std::shared_ptr<ConsumerTarget> target, Instant at);

    /// Ends the consumer. Its session is unlocked, and its unsettled messages return to their
    /// positions, uncounted. Its target hears nothing more, except a notification that is being
    /// delivered at this moment. No effect if it has ended.
    void close(Consumer& consumer, Instant at);

    /// The consumer is gone without a word. With a session: as `close`, and its unsettled messages
    /// say so from now on (`Delivered::holder_lost`). Without: as `retire`.
    void vanish(Consumer& consumer, Instant at);

    /// The consumer receives no more, and its target hears nothing more. Without sessions, its
    /// unsettled messages stay locked until they are settled or their locks end. Until then the
    /// queue keeps the consumer, and `settle` and `renew_message` work. With a session, or without
    /// unsettled messages: the same as `close`.
    void retire(Consumer& consumer, Instant at);

    /// Delivers up to `max` messages in order, appended to `to`, and none after that with which
    /// `max_bytes` are reached. If there were fewer of both, the target is notified when more
    /// arrive. Otherwise it is not: pull again for more. Returns false if the consumer has ended.
    bool pull(Consumer& consumer, std::uint32_t max, std::vector<Delivered>& to, Instant at,
              std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max());

    /// The consumer wants no work for now. If it was notified and has not pulled, another consumer
    /// is notified.
    void withdraw(Consumer& consumer, Instant at);

    /// Delivers deferred messages: all, or none with message_not_found, or with message_too_large
    /// if several take more than `max_bytes` together.
    core::Result<core::Done> receive_deferred(
        Consumer& consumer, std::span<const std::int64_t> sequences, std::vector<Delivered>& to,
        Instant at, std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max());

    /// Settles in order, and writes the result into each order: lock_lost, already_settled,
    /// not_supported (dead-lettering a dead letter), or quota_exceeded (the disk is full and
    /// changed properties need room; without them the settlement succeeds).
    void settle(Consumer& consumer, std::span<SettleOrder> orders, Instant at);

    /// Renews the lock for its full length from now. Returns its new end.
    core::Result<TimePoint> renew(Consumer& consumer, Instant at);
    /// Renews the lock of one message of an entity without sessions.
    core::Result<TimePoint> renew_message(Consumer& consumer, DeliveryTable::Token token,
                                          Instant at);

    core::Result<std::optional<std::string>> get_state(Consumer& consumer, Instant at);
    /// Sets the session's state. No value or an empty one clears it, even on a full disk. Fails
    /// with lock_lost, message_too_large or quota_exceeded (the disk is full).
    core::Result<core::Done> set_state(Consumer& consumer, std::optional<std::string> state,
                                       Instant at);

    /// Looks at a bounded number of messages, from sequence number `from` on, for up to `max` that
    /// are in the session, or in any. Changes nothing (DG8).
    Peeked peek_some(std::int64_t from, std::uint32_t max,
                     const std::optional<std::string>& session_id, Instant at);

    /// The messages from sequence number `from` on, in any state: `peek_some`, until there are
    /// `max` or no more. Other threads have the queue in between. Changes nothing (DG8).
    std::vector<ReceivedMessage> peek(std::int64_t from, std::uint32_t max,
                                      const std::optional<std::string>& session_id, Instant at);

    /// Tells `target` once there is a message that `peek` would show: during this call if there is
    /// one, else when one is stored. Returns the id of the wait, or zero if it is over.
    OperationId browse(BrowseSpec spec, std::shared_ptr<BrowserTarget> target, Instant at);
    /// Ends the wait. No effect if it is over.
    void cancel_browse(OperationId id, Instant at);

    /// The ids of sessions with messages or state, in the order in which they appeared.
    std::vector<std::string> list_sessions(std::size_t skip, std::size_t top, Instant at);
    /// Those whose state was set after `since`, in the order in which it was. Restored states count
    /// as set at the broker's start.
    std::vector<std::string> list_sessions_set_after(WallTime since, std::size_t skip,
                                                     std::size_t top, Instant at);

    QueueCounts counts(Instant at);

private:
    QueuePair& pair_;
    Entity& entity_;
};

using QueuePtr = std::shared_ptr<Queue>;

} // namespace sessionq::broker
