// SPDX-License-Identifier: MIT
#pragma once

#include "broker/accept_spec.hpp"
#include "broker/consumer_manager.hpp"
#include "broker/entity_messages.hpp"
#include "broker/purgatory.hpp"
#include "core/result.hpp"

namespace sessionq::broker {

/// The consumers of an entity, from accept to end, with the locks and states of their sessions.
/// Decides who gets a session and who is notified of messages.
class EntityConsumers {
public:
    EntityConsumers(EntityState& entity, EntityMessages& messages) noexcept
        : entity_{entity}, messages_{messages}, waiting_{entity.context} {}

    OperationId accept(AcceptSpec spec, std::shared_ptr<ConsumerTarget> target);
    bool cancel_accept(OperationId id) { return waiting_.take(id) != nullptr; }
    [[nodiscard]] std::size_t waiting_accepts() const noexcept { return waiting_.size(); }
    core::Result<ConsumerPtr> open(ReceiveMode mode, int priority,
                                   std::shared_ptr<ConsumerTarget> target);

    /// Says how many messages the consumer wants; zero: none. One that has ended never wants any.
    void set_wanted(Consumer& consumer, std::uint32_t wanted);

    core::Result<TimePoint> renew(Consumer& consumer);
    core::Result<std::optional<std::string>> get_state(const Consumer& consumer) const;
    core::Result<core::Done> set_state(Consumer& consumer, std::optional<std::string> state);
    /// Sets the state and counts it, without asking whether there is room.
    void change_state(Session& session, std::optional<std::string> state);

    void close(Consumer& consumer);
    /// As `Queue::vanish`.
    void vanish(Consumer& consumer);
    /// As `Queue::retire`.
    void retire(Consumer& consumer);
    /// A delivery has ended. Ends a retired consumer with its last one, and may destroy it.
    void end_delivery(Consumer& consumer, DeliveryTable::Token token);
    /// Ends a consumer that did not ask for it.
    void lose(Consumer& consumer, Failure why);
    /// Ends every consumer and every waiting accept.
    void shut_down();

    /// Serves waiting accepts and notifies consumers that can be served now.
    void serve();

    [[nodiscard]] Failure lock_lost(const Consumer& consumer) const;

private:
    struct WaitingAccept;

    /// Why there can be no new consumers, if so.
    [[nodiscard]] std::optional<Failure> find_fault() const {
        return entity_.is_shut_down ? entity_.deleted() : entity_.find_receive_fault();
    }
    /// Why an accept is refused, if so. Otherwise finds the session to grant at once; null: wait.
    [[nodiscard]] std::optional<Failure> select(const AcceptSpec& spec, Session*& session);
    /// No effect if another entity has answered the ask.
    void grant(Session& session, const AcceptSpec& spec, std::shared_ptr<ConsumerTarget> target);
    /// The same, and if another entity may still answer.
    void refuse(const AcceptSpec& spec, std::shared_ptr<ConsumerTarget> target, Failure why);
    enum class End : std::uint8_t { closed, vanished, lost };
    void end(Consumer& consumer, End how);

    EntityState& entity_;
    EntityMessages& messages_;
    ConsumerManager sharing_; // without sessions
    Purgatory waiting_;
};

} // namespace sessionq::broker
