// The way of a consumer through an entity; entity.cpp has the way of a message.
#include "broker/entity.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/id_length.hpp"

namespace sessionq::broker {
namespace {

constexpr std::array<Purgatory::Key, 1> any_session{0}; // what an accept without an id waits for

} // namespace

struct Entity::WaitingAccept final : Purgatory::Operation {
    WaitingAccept(Entity& of, AcceptSpec what, std::shared_ptr<ConsumerTarget> told) : entity{of}, spec{std::move(what)}, target{std::move(told)} {}

    void on_expired() override {
        entity.context_.effects().refused(std::move(target), entity.failure(Errc::no_session_available, "no session became available in time"));
    }

    Entity& entity;
    AcceptSpec spec;
    std::shared_ptr<ConsumerTarget> target;
};

std::optional<Failure> Entity::find_receive_fault() const {
    if (kind_ == EntityKind::topic) {
        return failure(Errc::not_supported, "a topic is received from through its subscriptions only");
    }
    if (passes_on() && !is_dead_letter_queue()) { // these may hold what could not be passed on
        return failure(Errc::not_supported, "its messages are passed on to '" + options_.forward_to + "'");
    }
    return std::nullopt;
}

OperationId Entity::accept(AcceptSpec spec, std::shared_ptr<ConsumerTarget> target) {
    const auto refuse = [&](Errc code, std::string_view about) {
        context_.effects().refused(std::move(target), failure(code, about));
        return OperationId{0};
    };
    if (is_shut_down_) {
        return refuse(Errc::entity_not_found, "it was deleted");
    }
    if (auto fault = find_receive_fault()) {
        context_.effects().refused(std::move(target), std::move(*fault));
        return 0;
    }
    if (!options_.requires_session) {
        return refuse(Errc::session_required, "it has no sessions to accept");
    }
    if (spec.session_id) {
        if (!core::is_id(*spec.session_id)) {
            return refuse(Errc::invalid_argument, "session_id is longer than 128 characters");
        }
        Session& session = sessions_.obtain(*spec.session_id);
        if (session.holder) {
            return refuse(Errc::session_locked_elsewhere, "session '" + *spec.session_id + "' is held by another receiver");
        }
        grant(session, spec.mode, spec.priority, std::move(target));
        return 0;
    }
    if (Session* session = sessions_.first_ready()) { // then nobody waits: `finish` has served them
        grant(*session, spec.mode, spec.priority, std::move(target));
        return 0;
    }
    if (spec.until <= context_.now()) {
        return refuse(Errc::no_session_available, "no session has messages and is free");
    }
    const int priority = spec.priority;
    const TimePoint until = spec.until;
    return waiting_.watch(std::make_unique<WaitingAccept>(*this, std::move(spec), std::move(target)), any_session, priority, until);
}

void Entity::grant(Session& session, ReceiveMode mode, int priority, std::shared_ptr<ConsumerTarget> target) {
    const TimePoint locked_until = context_.now() + options_.lock_duration;
    session.holder = std::make_shared<Consumer>(*this, target, *session.id, true, mode, priority, locked_until, [](void* of) {
        auto& consumer = *static_cast<Consumer*>(of);
        consumer.entity.lose(consumer, consumer.entity.lock_lost(consumer));
    });
    session.holder->session = &session;
    sessions_.refresh(session);
    context_.arm(session.holder->lock_timer, locked_until);
    context_.effects().accepted(std::move(target), session.holder);
}

core::Result<ConsumerPtr> Entity::open(ReceiveMode mode, int priority, std::shared_ptr<ConsumerTarget> target) {
    if (is_shut_down_) {
        return failure(Errc::entity_not_found, "it was deleted");
    }
    if (auto fault = find_receive_fault()) {
        return std::move(*fault);
    }
    if (options_.requires_session) {
        return failure(Errc::session_required, "it is received by session only");
    }
    auto consumer = std::make_shared<Consumer>(*this, std::move(target), std::string{}, false, mode, priority, TimePoint::max(), nullptr);
    consumers_.add(consumer);
    return consumer;
}

void Entity::close(Consumer& consumer) {
    if (!consumer.ended) {
        end(consumer, false);
    }
}

void Entity::lose(Consumer& consumer, Failure why) {
    context_.effects().lost(consumer.target, std::move(why));
    end(consumer, true);
}

void Entity::end(Consumer& consumer, bool counted) {
    consumer.ended = true;
    consumer.interest = Interest::none;
    consumer.target.reset();
    context_.cancel(consumer.lock_timer);
    auto in_hand = consumer.in_hand.messages();
    std::ranges::sort(in_hand, {}, &StoredMessage::sequence);
    for (StoredMessage* message : in_hand) {
        consumer.in_hand.remove(message->token);
        put_back(*message, counted);
    }
    if (Session* session = std::exchange(consumer.session, nullptr)) {
        const ConsumerPtr last_hold = std::move(session->holder); // may be the consumer's last
        sessions_.refresh(*session);
    } else {
        consumers_.remove(consumer);
    }
}

bool Entity::pull(Consumer& consumer, std::uint32_t max, std::vector<Delivered>& to) {
    if (consumer.ended) {
        return false;
    }
    if (consumer.mode == ReceiveMode::receive_and_delete && context_.is_failing()) { // what is handed out must be gone
        lose(consumer, cannot_be_kept(name_));
        return false;
    }
    AvailableMessages& available = available_to(consumer);
    std::uint32_t taken = 0;
    for (; taken < max; ++taken) {
        StoredMessage* message = available.pop_front();
        if (message == nullptr) {
            break;
        }
        hand_out(*message, consumer, to);
    }
    set_interest(consumer, taken < max);
    return true;
}

void Entity::withdraw(Consumer& consumer) {
    if (!consumer.ended) {
        set_interest(consumer, false);
    }
}

core::Result<core::Done> Entity::receive_deferred(Consumer& consumer, std::span<const std::int64_t> sequences, std::vector<Delivered>& to) {
    if (consumer.ended) {
        return lock_lost(consumer);
    }
    if (consumer.mode == ReceiveMode::receive_and_delete && context_.is_failing()) {
        return cannot_be_kept(name_);
    }
    std::vector<StoredMessage*> found;
    for (const std::int64_t sequence : sequences) {
        StoredMessage* message = store_.find(sequence);
        const bool is_there =
            message != nullptr && message->place == Place::deferred && message->holder == nullptr && message->session == consumer.session;
        if (is_there && message->expires <= context_.now()) { // a deferred message expires when it is asked for
            expire(*message);
            message = nullptr;
        }
        if (!is_there || message == nullptr || std::ranges::find(found, message) != found.end()) {
            return failure(Errc::message_not_found, "no deferred message here has the sequence number " + std::to_string(sequence));
        }
        found.push_back(message);
    }
    for (StoredMessage* message : found) {
        hand_out(*message, consumer, to);
    }
    return core::Done{};
}

void Entity::settle(Consumer& consumer, SettleOrder& order) {
    StoredMessage* message = consumer.ended ? nullptr : consumer.in_hand.find(order.token);
    if (message == nullptr) {
        order.failed_with = consumer.ended || !consumer.has_session ? Errc::lock_lost : Errc::already_settled;
        return;
    }
    if (order.outcome == Outcome::dead_letter && is_dead_letter_queue()) {
        order.failed_with = Errc::not_supported;
        return;
    }
    if (order.outcome != Outcome::release && context_.is_failing()) {
        order.failed_with = Errc::server_busy; // it stays in hand
        return;
    }
    if (order.outcome != Outcome::release && order.changes != nullptr && !order.changes->properties.empty() && context_.is_full()) {
        order.failed_with = Errc::quota_exceeded; // it stays in hand, and goes without them
        return;
    }
    consumer.in_hand.remove(order.token);
    if (order.outcome == Outcome::complete) {
        remove(*message);
        return;
    }
    if (order.changes != nullptr && order.outcome != Outcome::release) {
        modify(*message, *order.changes);
    }
    switch (order.outcome) {
    case Outcome::complete: break;
    case Outcome::abandon: put_back(*message, true); break;
    case Outcome::release: put_back(*message, false); break;
    case Outcome::defer:
        store_.move(*message, Place::deferred);
        note_changed(*message);
        put_back(*message, false);
        break;
    case Outcome::dead_letter:
        message->holder = nullptr;
        dead_letter(*message, order.changes != nullptr ? order.changes->dead_letter : DeadLetterInfo{});
        break;
    }
}

core::Result<TimePoint> Entity::renew(Consumer& consumer) {
    if (consumer.ended || consumer.session == nullptr) {
        return lock_lost(consumer);
    }
    consumer.locked_until = context_.now() + options_.lock_duration;
    context_.arm(consumer.lock_timer, consumer.locked_until);
    return consumer.locked_until;
}

core::Result<TimePoint> Entity::renew_message(Consumer& consumer, DeliveryTable::Token token) {
    StoredMessage* message = consumer.ended || consumer.has_session ? nullptr : consumer.in_hand.find(token);
    if (message == nullptr) {
        return failure(Errc::lock_lost, "the message is not locked by this receiver");
    }
    const TimePoint until = context_.now() + options_.lock_duration;
    arm(*message, until);
    return until;
}

core::Result<std::optional<std::string>> Entity::get_state(const Consumer& consumer) const {
    if (consumer.ended || consumer.session == nullptr) {
        return lock_lost(consumer);
    }
    const auto& state = consumer.session->state;
    return state ? std::optional{*state} : std::nullopt;
}

core::Result<core::Done> Entity::set_state(Consumer& consumer, std::optional<std::string> state) {
    if (consumer.ended || consumer.session == nullptr) {
        return lock_lost(consumer);
    }
    if (state && state->size() > options_.max_message_bytes) {
        return failure(Errc::message_too_large, "a session's state takes at most max_message_bytes, " + std::to_string(options_.max_message_bytes));
    }
    if (auto fault = context_.find_fault(name_, state ? Growth::adds : Growth::none)) {
        return std::move(*fault);
    }
    if (context_.is_kept()) {
        context_.note(SessionStateSet{.entity = id_, .session_id = consumer.session_id, .state = state});
    }
    consumer.session->state = state ? std::make_unique<std::string>(*std::move(state)) : nullptr;
    return core::Done{};
}

void Entity::shut_down() {
    is_shut_down_ = true;
    while (auto* operation = waiting_.any()) {
        const auto given_up = waiting_.take(operation->id());
        context_.effects().refused(static_cast<WaitingAccept&>(*given_up).target, failure(Errc::entity_not_found, "it was deleted"));
    }
    for (Session* session = sessions_.oldest(); session != nullptr;) {
        Session* next = sessions_.after(*session);
        if (const ConsumerPtr holder = session->holder) {
            lose(*holder, failure(Errc::entity_not_found, "it was deleted"));
        }
        session = next;
    }
    while (!consumers_.all().empty()) {
        const ConsumerPtr consumer = consumers_.all().back();
        lose(*consumer, failure(Errc::entity_not_found, "it was deleted"));
    }
}

void Entity::finish() {
    while (Session* session = sessions_.first_ready()) {
        auto* operation = waiting_.first(any_session.front());
        if (operation == nullptr) {
            break;
        }
        const auto completed = waiting_.take(operation->id());
        auto& accept = static_cast<WaitingAccept&>(*completed);
        grant(*session, accept.spec.mode, accept.spec.priority, std::move(accept.target));
    }
    if (!available_.empty()) {
        if (Consumer* next = consumers_.notify_next()) {
            context_.effects().work(next->target);
        }
    }
}

void Entity::set_interest(Consumer& consumer, bool interested) {
    if (consumer.session == nullptr) {
        consumers_.set_interested(consumer, interested);
    } else {
        consumer.interest = interested ? Interest::interested : Interest::none;
    }
}

void Entity::on_change(Session& session) {
    Consumer* holder = session.holder.get();
    if (holder == nullptr) {
        sessions_.refresh(session);
    } else if (holder->interest == Interest::interested) {
        holder->interest = Interest::notified;
        context_.effects().work(holder->target);
    }
}

AvailableMessages& Entity::available_to(const Consumer& consumer) noexcept {
    return consumer.session != nullptr ? consumer.session->available : available_;
}

Failure Entity::lock_lost(const Consumer& consumer) const {
    return failure(Errc::lock_lost,
                   consumer.has_session ? "the lock of session '" + consumer.session_id + "' is lost" : std::string{"the receiver is closed"});
}

} // namespace sessionq::broker
