// How consumers start and end, and how they are notified of work. What they do in between is in
// entity_holding.cpp.
#include "broker/entity.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/id_length.hpp"

namespace sessionq::broker {
namespace {

constexpr std::array<Purgatory::Key, 1> any_session{0}; // the key of accepts without a session id

} // namespace

struct Entity::WaitingAccept final : Purgatory::Operation {
    WaitingAccept(Entity& of, AcceptSpec what, std::shared_ptr<ConsumerTarget> told)
        : entity{of}, spec{std::move(what)}, target{std::move(told)} {}

    void on_expired() override {
        entity.context_.effects().refused(
            std::move(target),
            entity.failure(Errc::no_session_available, "no session became available in time"));
    }

    Entity& entity;
    AcceptSpec spec;
    std::shared_ptr<ConsumerTarget> target;
};

std::optional<Failure> Entity::find_receive_fault() const {
    if (kind_ == EntityKind::topic) {
        return failure(Errc::not_supported,
                       "a topic cannot be received from; receive from its subscriptions");
    }
    // A dead-letter sub-queue may hold messages that could not be forwarded.
    if (forwards() && !is_dead_letter_queue()) {
        return failure(Errc::not_supported,
                       "its messages are forwarded to '" + options_.forward_to + "'");
    }
    return std::nullopt;
}

OperationId Entity::accept(AcceptSpec spec, std::shared_ptr<ConsumerTarget> target) {
    const auto refuse = [&](Errc code, std::string_view about) {
        context_.effects().refused(std::move(target), failure(code, about));
        return OperationId{0};
    };
    if (is_shut_down_) {
        return refuse(Errc::entity_not_found, "the entity was deleted");
    }
    if (auto fault = find_receive_fault()) {
        context_.effects().refused(std::move(target), std::move(*fault));
        return 0;
    }
    if (!options_.requires_session) {
        return refuse(Errc::session_required,
                      "the entity does not require sessions, so it has none to accept");
    }
    if (spec.session_id) {
        if (!core::is_id(*spec.session_id)) {
            return refuse(Errc::invalid_argument, "session_id is longer than 128 characters");
        }
        Session& session = sessions_.obtain(*spec.session_id);
        if (session.holder) {
            return refuse(Errc::session_locked_elsewhere,
                          "session '" + *spec.session_id + "' is locked by another receiver");
        }
        grant(session, spec.mode, spec.priority, std::move(target));
        return 0;
    }
    // no accept waits now: `finish` has served them all
    if (Session* session = sessions_.first_ready()) {
        grant(*session, spec.mode, spec.priority, std::move(target));
        return 0;
    }
    if (spec.until <= context_.now()) {
        return refuse(Errc::no_session_available, "no unlocked session has messages");
    }
    const int priority = spec.priority;
    const TimePoint until = spec.until;
    return waiting_.watch(
        std::make_unique<WaitingAccept>(*this, std::move(spec), std::move(target)), any_session,
        priority, until);
}

void Entity::grant(Session& session, ReceiveMode mode, int priority,
                   std::shared_ptr<ConsumerTarget> target) {
    const TimePoint locked_until = context_.now() + options_.lock_duration;
    session.holder = std::make_shared<Consumer>(
        *this, target, *session.id, true, mode, priority, locked_until, [](void* of) {
            auto& consumer = *static_cast<Consumer*>(of);
            consumer.entity.lose(consumer, consumer.entity.lock_lost(consumer));
        });
    session.holder->session = &session;
    sessions_.refresh(session);
    context_.arm(session.holder->lock_timer, locked_until);
    context_.effects().accepted(std::move(target), session.holder);
}

core::Result<ConsumerPtr> Entity::open(ReceiveMode mode, int priority,
                                       std::shared_ptr<ConsumerTarget> target) {
    if (is_shut_down_) {
        return failure(Errc::entity_not_found, "the entity was deleted");
    }
    if (auto fault = find_receive_fault()) {
        return std::move(*fault);
    }
    if (options_.requires_session) {
        return failure(Errc::session_required,
                       "the entity requires sessions; accept a session instead");
    }
    auto consumer = std::make_shared<Consumer>(*this, std::move(target), std::string{}, false, mode,
                                               priority, TimePoint::max(), nullptr);
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
    auto unsettled = consumer.unsettled.messages();
    std::ranges::sort(unsettled, {}, &StoredMessage::sequence);
    for (StoredMessage* message : unsettled) {
        consumer.unsettled.remove(message->token);
        put_back(*message, counted);
    }
    if (Session* session = std::exchange(consumer.session, nullptr)) {
        // This may be the last owner of the consumer.
        const ConsumerPtr last_owner = std::move(session->holder);
        sessions_.refresh(*session);
    } else {
        consumers_.remove(consumer);
    }
}

void Entity::shut_down() {
    is_shut_down_ = true;
    while (auto* operation = waiting_.any()) {
        const auto given_up = waiting_.take(operation->id());
        context_.effects().refused(static_cast<WaitingAccept&>(*given_up).target,
                                   failure(Errc::entity_not_found, "the entity was deleted"));
    }
    for (Session* session = sessions_.oldest(); session != nullptr;) {
        Session* next = sessions_.after(*session);
        if (const ConsumerPtr holder = session->holder) {
            lose(*holder, failure(Errc::entity_not_found, "the entity was deleted"));
        }
        session = next;
    }
    while (!consumers_.all().empty()) {
        const ConsumerPtr consumer = consumers_.all().back();
        lose(*consumer, failure(Errc::entity_not_found, "the entity was deleted"));
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

void Entity::on_change(Session& session) {
    Consumer* holder = session.holder.get();
    if (holder == nullptr) {
        sessions_.refresh(session);
    } else if (holder->interest == Interest::interested) {
        holder->interest = Interest::notified;
        context_.effects().work(holder->target);
    }
}

} // namespace sessionq::broker
