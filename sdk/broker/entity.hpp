#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/accept_spec.hpp"
#include "broker/consumer.hpp"
#include "broker/consumer_manager.hpp"
#include "broker/delivered.hpp"
#include "broker/duplicate_history.hpp"
#include "broker/journal.hpp"
#include "broker/message_store.hpp"
#include "broker/purgatory.hpp"
#include "broker/queue_context.hpp"
#include "broker/queue_options.hpp"
#include "broker/session_table.hpp"
#include "broker/settlement.hpp"
#include "broker/transit.hpp"
#include "core/result.hpp"

namespace sessionq::broker {

/// The engine of one queue or dead-letter sub-queue. It decides what happens to messages, sessions
/// and consumers.
///
/// It reads no clock and calls no user code: time comes in through the context, and notifications
/// go out through it. `Queue` wraps each call in `context.begin`, the lock and `finish`, and
/// documents the functions.
class Entity {
public:
    /// `dead_letters` is null for a dead-letter sub-queue, whose messages are not counted and do
    /// not expire. `id` names the entity in the context's journal. A topic, and an entity with
    /// `forward_to`, forwards its messages through the context.
    Entity(std::string name, EntityKind kind, const QueueOptions& options, QueueContext& context,
           Entity* dead_letters, EntityId id = 0);
    Entity(const Entity&) = delete;
    Entity& operator=(const Entity&) = delete;

    core::Result<std::vector<std::int64_t>> send(std::vector<MessageContentPtr> messages);
    core::Result<core::Done> cancel_scheduled(std::span<const std::int64_t> sequences);

    /// Takes a message that another entity forwards. Its removal there is recorded together with
    /// its arrival here. A subscription dead-letters a message that it cannot accept; other
    /// entities fail as `send` does.
    std::optional<Failure> take(Arrival arrival);
    /// A message's forwarding has ended: it has arrived, or is dead-lettered here.
    void end_transit(std::int64_t sequence, const std::optional<DeadLetterInfo>& failed_with);

    /// Why nothing can be received here, if so.
    [[nodiscard]] std::optional<Failure> find_receive_fault() const;
    /// Why senders cannot send here, if so.
    [[nodiscard]] std::optional<Failure> find_send_fault() const;

    OperationId accept(AcceptSpec spec, std::shared_ptr<ConsumerTarget> target);
    bool cancel_accept(OperationId id) { return waiting_.take(id) != nullptr; }
    core::Result<ConsumerPtr> open(ReceiveMode mode, int priority,
                                   std::shared_ptr<ConsumerTarget> target);
    void close(Consumer& consumer);

    bool pull(Consumer& consumer, std::uint32_t max, std::vector<Delivered>& to);
    void withdraw(Consumer& consumer);
    core::Result<core::Done> receive_deferred(Consumer& consumer,
                                              std::span<const std::int64_t> sequences,
                                              std::vector<Delivered>& to);
    void settle(Consumer& consumer, SettleOrder& order);

    core::Result<TimePoint> renew(Consumer& consumer);
    core::Result<TimePoint> renew_message(Consumer& consumer, DeliveryTable::Token token);
    core::Result<std::optional<std::string>> get_state(const Consumer& consumer) const;
    core::Result<core::Done> set_state(Consumer& consumer, std::optional<std::string> state);

    std::vector<ReceivedMessage> peek(std::int64_t from, std::uint32_t max,
                                      const std::optional<std::string>& session_id);
    [[nodiscard]] std::vector<std::string> list_sessions(std::size_t skip, std::size_t top) const {
        return sessions_.list(skip, top);
    }

    /// Restores the stored content. Must be the first call.
    void restore(DurableEntity stored);

    /// Ends every consumer and every waiting accept, because the entity is being deleted.
    void shut_down();

    /// Ends an operation: serves waiting accepts and notifies consumers that can be served now.
    void finish();

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] EntityId id() const noexcept { return id_; }
    [[nodiscard]] const QueueOptions& options() const noexcept { return options_; }
    [[nodiscard]] std::size_t message_count(Place place) const noexcept {
        return store_.count(place);
    }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return store_.bytes(); }
    [[nodiscard]] std::size_t session_count() const noexcept { return sessions_.size(); }
    [[nodiscard]] std::size_t waiting_accepts() const noexcept { return waiting_.size(); }

private:
    struct WaitingAccept;

    [[nodiscard]] std::optional<Failure> find_fault(
        const std::vector<MessageContentPtr>& messages) const;
    [[nodiscard]] std::optional<Failure> find_fault(const MessageContent& message) const;
    std::int64_t enqueue(Arrival arrival);
    void take_dead_letter(MessageContentPtr content, std::uint32_t delivery_count,
                          DeadLetterInfo why);

    // Messages.
    void activate(StoredMessage& message, std::optional<std::chrono::milliseconds> longest = {});
    void make_available(StoredMessage& message);
    void add_to_available(StoredMessage& message);
    void forward(StoredMessage& message);
    void deliver(StoredMessage& message, Consumer& consumer, std::vector<Delivered>& to);
    void put_back(StoredMessage& message, bool counted);
    void expire(StoredMessage& message);
    void dead_letter(StoredMessage& message, DeadLetterInfo why);
    void remove(StoredMessage& message);
    void drop(StoredMessage& message);
    void modify(StoredMessage& message, const Changes& changes);
    void arm(StoredMessage& message, TimePoint due);
    void on_timer(StoredMessage& message);

    // The journal.
    [[nodiscard]] DurableMessage record_of(const StoredMessage& message) const;
    void note_added(const StoredMessage& message);
    void note_changed(const StoredMessage& message);
    void note_removed(const StoredMessage& message);
    void note_origin(const Origin& origin);
    StoredMessage& restore(DurableMessage stored);
    void set_expiry(StoredMessage& message);

    // Consumers.
    void grant(Session& session, ReceiveMode mode, int priority,
               std::shared_ptr<ConsumerTarget> target);
    void end(Consumer& consumer, bool counted);
    void lose(Consumer& consumer, Failure why);
    void set_interest(Consumer& consumer, bool interested);
    void on_change(Session& session);

    [[nodiscard]] bool is_dead_letter_queue() const noexcept { return dead_letters_ == nullptr; }
    [[nodiscard]] bool forwards() const noexcept {
        return kind_ == EntityKind::topic || !options_.forward_to.empty();
    }
    [[nodiscard]] AvailableMessages& available_to(const Consumer& consumer) noexcept;
    [[nodiscard]] Failure failure(Errc code, std::string_view about) const;
    [[nodiscard]] Failure lock_lost(const Consumer& consumer) const;

    const std::string name_;
    const EntityKind kind_;
    const QueueOptions options_;
    QueueContext& context_;
    Entity* const dead_letters_;
    const EntityId id_;

    SessionTable sessions_;
    AvailableMessages available_; // without sessions
    ConsumerManager consumers_;   // without sessions
    MessageStore store_;
    Purgatory waiting_;
    std::optional<DuplicateHistory> history_;
    bool is_shut_down_{false};
};

} // namespace sessionq::broker
