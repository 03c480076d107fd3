#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "broker/accept_spec.hpp"
#include "broker/consumer.hpp"
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

/// What a queue holds at an instant.
struct QueueCounts {
    std::size_t active{0};    ///< available or in hand
    std::size_t deferred{0};  ///< set aside, in hand or not
    std::size_t scheduled{0}; ///< not yet due
    std::uint64_t bytes{0};
    std::size_t sessions{0}; ///< with messages, state or a holder
    std::size_t waiting_accepts{0};
};

/// A queue, a topic, a subscription or a dead-letter sub-queue, as everybody but the engine sees
/// it. Kept by `std::shared_ptr`, so that it outlives its deletion.
///
/// Thread-safe: each call holds the queue's lock once, however much it carries, and has taken
/// effect when it returns. Consumers are told what follows before it returns, outside the lock.
/// `at` is the time of the call.
class Queue {
public:
    Queue(std::string name, QueuePair& pair, Entity& entity)
        : name_{std::move(name)}, pair_{pair}, entity_{entity} {}
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] const QueueOptions& options() const noexcept;
    /// Of a dead-letter sub-queue: what it belongs to.
    [[nodiscard]] EntityKind kind() const noexcept;

    /// Why senders cannot send to it, or receivers receive from it, whatever they send and however
    /// they receive; nothing: they can. Both fail with not_supported.
    [[nodiscard]] std::optional<Failure> find_send_fault() const;
    [[nodiscard]] std::optional<Failure> find_receive_fault() const;

    /// Of a subscription; null: it is none.
    [[nodiscard]] RuleBook* rules() noexcept;

    /// Takes all messages or none, and answers with their sequence numbers; that of a scheduled one
    /// is valid until it is due, when it gets a new one. Fails with session_required,
    /// invalid_argument, message_too_large, quota_exceeded (the queue's, or the disk's),
    /// not_supported (a dead-letter sub-queue).
    core::Result<std::vector<std::int64_t>> send(std::vector<MessageContentPtr> messages,
                                                 Instant at);
    core::Result<std::vector<std::int64_t>> send(std::vector<Message> messages, Instant at);

    /// Removes scheduled messages before they are due: all, or none with message_not_found.
    core::Result<core::Done> cancel_scheduled(std::span<const std::int64_t> sequences, Instant at);

    /// Asks for a session; `target` gets the answer, during this call or later. A named session is
    /// granted also if it has no messages, and refused with session_locked_elsewhere while it is
    /// held. Without a name: the ready session whose first message is oldest; if there is none,
    /// waits in line. Returns the number of the wait; zero when it was answered.
    OperationId accept(AcceptSpec spec, std::shared_ptr<ConsumerTarget> target, Instant at);

    /// True: the wait is over and will not be answered. False: it was answered before, or is being
    /// answered.
    bool cancel_accept(OperationId id, Instant at);

    /// A consumer of an entity without sessions; each message is locked by itself.
    core::Result<ConsumerPtr> open(ReceiveMode mode, int priority,
                                   std::shared_ptr<ConsumerTarget> target, Instant at);

    /// Gives up what the consumer holds: its session is free, what it has in hand is available
    /// again in its position, uncounted. Its target hears nothing more, except what is being said
    /// at this moment. Again: no effect.
    void close(Consumer& consumer, Instant at);

    /// Hands out up to `max` messages in order, appended to `to`. Fewer than `max`: there were no
    /// more, and the target will be notified when there are. `max` of them: it will not, pull again
    /// for more. False: the consumer has ended.
    bool pull(Consumer& consumer, std::uint32_t max, std::vector<Delivered>& to, Instant at);

    /// The consumer wants no work for now. What it was notified of and did not take is offered to
    /// another.
    void withdraw(Consumer& consumer, Instant at);

    /// Hands out deferred messages: all, or none with message_not_found.
    core::Result<core::Done> receive_deferred(Consumer& consumer,
                                              std::span<const std::int64_t> sequences,
                                              std::vector<Delivered>& to, Instant at);

    /// Settles in order; each order gets its own answer: lock_lost, already_settled, not_supported
    /// (dead-lettering a dead letter), quota_exceeded (the disk is full, and the properties that
    /// are to change need room; without them it is settled).
    void settle(Consumer& consumer, std::span<SettleOrder> orders, Instant at);

    /// The lock lasts its full length from now; answers with its end.
    core::Result<TimePoint> renew(Consumer& consumer, Instant at);
    /// The same for one message, without sessions.
    core::Result<TimePoint> renew_message(Consumer& consumer, DeliveryTable::Token token,
                                          Instant at);

    core::Result<std::optional<std::string>> get_state(Consumer& consumer, Instant at);
    /// No value clears the state, also on a full disk. Fails with lock_lost, message_too_large,
    /// quota_exceeded (the disk is full).
    core::Result<core::Done> set_state(Consumer& consumer, std::optional<std::string> state,
                                       Instant at);

    /// Messages from sequence number `from` on, whatever befalls them otherwise; disturbs nothing
    /// (DG8).
    std::vector<ReceivedMessage> peek(std::int64_t from, std::uint32_t max,
                                      const std::optional<std::string>& session_id, Instant at);

    /// Ids of sessions with messages or state, in the order they appeared.
    std::vector<std::string> list_sessions(std::size_t skip, std::size_t top, Instant at);

    QueueCounts counts(Instant at);

private:
    template <typename Operation>
    auto perform(Instant at, Operation operation);

    const std::string name_;
    QueuePair& pair_;
    Entity& entity_;
};

using QueuePtr = std::shared_ptr<Queue>;

} // namespace sessionq::broker
