// SPDX-License-Identifier: MIT
#include "broker/entity_consumers.hpp"

#include <algorithm>

#include "core/id_check.hpp"

namespace sessionq::broker {
namespace {

/// The session that a state keeps, with its id and its places in lists.
constexpr std::uint64_t beside_a_state = 512;

std::uint64_t bytes_of_state(const Session& session) noexcept {
    return session.state ? beside_a_state + session.state->size() : 0;
}

} // namespace

struct EntityConsumers::WaitingAccept final : Purgatory::Operation {
    WaitingAccept(EntityConsumers& of, AcceptSpec what, std::shared_ptr<ConsumerTarget> told)
        : consumers{of}, spec{std::move(what)}, target{std::move(told)} {}

    void on_expired() override {
        consumers.refuse(spec, std::move(target),
                         consumers.entity_.failure(Errc::no_session_available,
                                                   "no session became available in time"));
    }

    EntityConsumers& consumers;
    AcceptSpec spec;
    std::shared_ptr<ConsumerTarget> target;
};

OperationId EntityConsumers::accept(AcceptSpec spec, std::shared_ptr<ConsumerTarget> target) {
    Session* session = nullptr;
    if (auto fault = select(spec, session)) {
        refuse(spec, std::move(target), std::move(*fault));
        return 0;
    }
    if (session != nullptr) {
        grant(*session, spec, std::move(target));
        return 0;
    }
    const int priority = spec.priority;
    const TimePoint until = spec.until;
    return waiting_.add(std::make_unique<WaitingAccept>(*this, std::move(spec), std::move(target)),
                        priority, until);
}

void EntityConsumers::refuse(const AcceptSpec& spec, std::shared_ptr<ConsumerTarget> target,
                             Failure why) {
    if (!spec.claim || spec.claim->refuse(why.code)) {
        entity_.context.effects().refused(std::move(target), std::move(why));
    }
}

std::optional<Failure> EntityConsumers::select(const AcceptSpec& spec, Session*& session) {
    if (auto fault = find_fault()) {
        return fault;
    }
    if (!entity_.options.requires_session) {
        return entity_.failure(Errc::session_required,
                               "the entity does not require sessions, so it has none to accept");
    }
    if (spec.session_id) {
        if (const auto fault = core::id_fault(*spec.session_id); !fault.empty()) {
            return entity_.failure(Errc::invalid_argument, "session_id " + std::string{fault});
        }
        session = &entity_.sessions.obtain(*spec.session_id);
        if (session->holder) {
            return entity_.failure(Errc::session_locked_elsewhere,
                                   "session '" + *spec.session_id +
                                       "' is locked by another receiver");
        }
        return std::nullopt;
    }
    // no accept waits now: `serve` has served them all
    session = entity_.sessions.first_ready();
    if (session == nullptr && spec.until <= entity_.context.now()) {
        return entity_.failure(Errc::no_session_available, "no unlocked session has messages");
    }
    return std::nullopt;
}

void EntityConsumers::grant(Session& session, const AcceptSpec& spec,
                            std::shared_ptr<ConsumerTarget> target) {
    if (spec.claim && !spec.claim->take()) {
        return; // another entity has answered
    }
    const TimePoint locked_until = entity_.lock_end();
    session.holder = std::make_shared<Consumer>(
        *this, target, spec.session_id.value_or(*session.id), true, spec.mode, spec.priority,
        locked_until, [](void* of) {
            auto& consumer = *static_cast<Consumer*>(of);
            consumer.owner.lose(consumer, consumer.owner.lock_lost(consumer));
        });
    session.holder->session = &session;
    entity_.sessions.refresh(session, entity_.context.now());
    entity_.context.arm(session.holder->lock_timer, locked_until);
    entity_.context.effects().accepted(std::move(target), session.holder);
}

core::Result<ConsumerPtr> EntityConsumers::open(ReceiveMode mode, int priority,
                                                std::shared_ptr<ConsumerTarget> target) {
    if (auto fault = find_fault()) {
        return std::move(*fault);
    }
    if (entity_.options.requires_session) {
        return entity_.failure(Errc::session_required,
                               "the entity requires sessions; accept a session instead");
    }
    auto consumer = std::make_shared<Consumer>(*this, std::move(target), std::string{}, false, mode,
                                               priority, TimePoint::max(), nullptr);
    sharing_.add(consumer);
    return consumer;
}

void EntityConsumers::set_wanted(Consumer& consumer, std::uint32_t wanted) {
    if (consumer.session == nullptr) {
        sharing_.set_wanted(consumer, wanted);
    } else {
        consumer.interest = wanted != 0 ? Interest::interested : Interest::none;
    }
}

core::Result<TimePoint> EntityConsumers::renew(Consumer& consumer) {
    if (consumer.session == nullptr) {
        return lock_lost(consumer);
    }
    const TimePoint until = entity_.lock_end();
    entity_.context.arm(consumer.lock_timer, until);
    return until;
}

core::Result<std::optional<std::string>> EntityConsumers::get_state(
    const Consumer& consumer) const {
    if (consumer.session == nullptr) {
        return lock_lost(consumer);
    }
    const auto& state = consumer.session->state;
    return state ? std::optional{*state} : std::nullopt;
}

core::Result<core::Done> EntityConsumers::set_state(Consumer& consumer,
                                                    std::optional<std::string> state) {
    if (consumer.session == nullptr) {
        return lock_lost(consumer);
    }
    if (state && state->empty()) {
        state.reset();
    }
    if (state && state->size() > entity_.options.max_message_bytes) {
        return entity_.failure(Errc::message_too_large,
                               "a session's state may take at most max_message_bytes, " +
                                   std::to_string(entity_.options.max_message_bytes));
    }
    if (auto fault =
            entity_.context.find_fault(entity_.name, state ? Growth::adds : Growth::none)) {
        return std::move(*fault);
    }
    const std::uint64_t now_taken = bytes_of_state(*consumer.session);
    const std::uint64_t wanted = state ? beside_a_state + state->size() : 0;
    if (auto fault = entity_.find_room_fault(wanted - std::min(wanted, now_taken),
                                             StoredBytes::For::new_data)) {
        return std::move(*fault);
    }
    entity_.journal.note_state(*consumer.session->id, state);
    change_state(*consumer.session, std::move(state));
    return core::Done{};
}

void EntityConsumers::change_state(Session& session, std::optional<std::string> state) {
    const std::uint64_t before = bytes_of_state(session);
    entity_.sessions.set_state(session,
                               state ? std::make_unique<std::string>(*std::move(state)) : nullptr,
                               entity_.context.wall_now());
    entity_.context.stored().change(StoredBytes::Part::session_states, before,
                                    bytes_of_state(session));
}

void EntityConsumers::close(Consumer& consumer) {
    if (!consumer.ended) {
        end(consumer, End::closed);
    }
}

void EntityConsumers::vanish(Consumer& consumer) {
    if (!consumer.has_session) {
        retire(consumer);
    } else if (!consumer.ended) {
        end(consumer, End::vanished);
    }
}

void EntityConsumers::retire(Consumer& consumer) {
    if (consumer.has_session || consumer.unsettled.size() == 0) {
        close(consumer);
        return;
    }
    sharing_.set_wanted(consumer, 0);
    consumer.target.reset();
}

void EntityConsumers::end_delivery(Consumer& consumer, DeliveryTable::Token token) {
    consumer.unsettled.remove(token);
    if (consumer.target == nullptr && consumer.unsettled.size() == 0) {
        end(consumer, End::closed);
    }
}

void EntityConsumers::lose(Consumer& consumer, Failure why) {
    if (consumer.target != nullptr) {
        entity_.context.effects().lost(consumer.target, std::move(why));
    }
    end(consumer, End::lost);
}

void EntityConsumers::end(Consumer& consumer, End how) {
    consumer.ended = true;
    consumer.interest = Interest::none;
    consumer.target.reset();
    entity_.context.cancel(consumer.lock_timer);
    auto unsettled = consumer.unsettled.messages();
    std::ranges::sort(unsettled, {}, &StoredMessage::sequence);
    for (StoredMessage* message : unsettled) {
        consumer.unsettled.remove(message->token);
        message->holder_lost |= how != End::closed;
        messages_.put_back(*message, how == End::lost);
    }
    if (Session* session = std::exchange(consumer.session, nullptr)) {
        // This may be the last owner of the consumer.
        const ConsumerPtr last_owner = std::move(session->holder);
        entity_.sessions.refresh(*session, entity_.context.now());
    } else {
        sharing_.remove(consumer);
    }
}

void EntityConsumers::shut_down() {
    while (auto* operation = waiting_.first()) {
        const auto given_up = waiting_.take(operation->id());
        auto& accept = static_cast<WaitingAccept&>(*given_up);
        refuse(accept.spec, std::move(accept.target), entity_.deleted());
    }
    for (Session* session = entity_.sessions.oldest(); session != nullptr;) {
        Session* next = entity_.sessions.after(*session);
        if (const ConsumerPtr holder = session->holder) {
            lose(*holder, entity_.deleted());
        }
        session = next;
    }
    while (!sharing_.all().empty()) {
        const ConsumerPtr consumer = sharing_.all().back();
        lose(*consumer, entity_.deleted());
    }
}

void EntityConsumers::serve() {
    while (Session* session = entity_.sessions.first_ready()) {
        auto* operation = waiting_.first();
        if (operation == nullptr) {
            break;
        }
        const auto completed = waiting_.take(operation->id());
        auto& accept = static_cast<WaitingAccept&>(*completed);
        grant(*session, accept.spec, std::move(accept.target));
    }
    while (Consumer* next = sharing_.notify_next(entity_.available.size())) {
        entity_.context.effects().work(next->target);
    }
}

Failure EntityConsumers::lock_lost(const Consumer& consumer) const {
    return entity_.failure(Errc::lock_lost,
                           consumer.has_session
                               ? "the lock of session '" + consumer.session_id + "' is lost"
                               : std::string{"the receiver is closed"});
}

} // namespace sessionq::broker
