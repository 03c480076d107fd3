// What the holder of a session or a message may do. How consumers start and end is in
// entity_consumers.cpp.
#include "broker/entity.hpp"

#include <algorithm>
#include <utility>

namespace sessionq::broker {

bool Entity::pull(Consumer& consumer, std::uint32_t max, std::vector<Delivered>& to) {
    if (consumer.ended) {
        return false;
    }
    if (consumer.mode == ReceiveMode::receive_and_delete &&
        context_.is_failing()) { // deliveries could not be recorded as removed
        lose(consumer, journal_failing(name_));
        return false;
    }
    AvailableMessages& available = available_to(consumer);
    std::uint32_t taken = 0;
    for (; taken < max; ++taken) {
        StoredMessage* message = available.pop_front();
        if (message == nullptr) {
            break;
        }
        deliver(*message, consumer, to);
    }
    set_interest(consumer, taken < max);
    return true;
}

void Entity::withdraw(Consumer& consumer) {
    if (!consumer.ended) {
        set_interest(consumer, false);
    }
}

core::Result<core::Done> Entity::receive_deferred(Consumer& consumer,
                                                  std::span<const std::int64_t> sequences,
                                                  std::vector<Delivered>& to) {
    if (consumer.ended) {
        return lock_lost(consumer);
    }
    if (consumer.mode == ReceiveMode::receive_and_delete && context_.is_failing()) {
        return journal_failing(name_);
    }
    std::vector<StoredMessage*> found;
    for (const std::int64_t sequence : sequences) {
        StoredMessage* message = store_.find(sequence);
        const bool is_there = message != nullptr && message->place == Place::deferred &&
                              message->holder == nullptr && message->session == consumer.session;
        if (is_there &&
            message->expires <= context_.now()) { // a deferred message expires on demand
            expire(*message);
            message = nullptr;
        }
        if (!is_there || message == nullptr || std::ranges::find(found, message) != found.end()) {
            return failure(Errc::message_not_found, "no deferred message has the sequence number " +
                                                        std::to_string(sequence));
        }
        found.push_back(message);
    }
    for (StoredMessage* message : found) {
        deliver(*message, consumer, to);
    }
    return core::Done{};
}

void Entity::settle(Consumer& consumer, SettleOrder& order) {
    StoredMessage* message = consumer.ended ? nullptr : consumer.unsettled.find(order.token);
    if (message == nullptr) {
        order.failed_with =
            consumer.ended || !consumer.has_session ? Errc::lock_lost : Errc::already_settled;
        return;
    }
    if (order.outcome == Outcome::dead_letter && is_dead_letter_queue()) {
        order.failed_with = Errc::not_supported;
        return;
    }
    if (order.outcome != Outcome::release && context_.is_failing()) {
        order.failed_with = Errc::server_busy; // it stays unsettled
        return;
    }
    if (order.outcome != Outcome::release && order.changes != nullptr &&
        !order.changes->properties.empty() && context_.is_full()) {
        // it stays unsettled and can be settled without properties
        order.failed_with = Errc::quota_exceeded;
        return;
    }
    consumer.unsettled.remove(order.token);
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
        dead_letter(*message,
                    order.changes != nullptr ? order.changes->dead_letter : DeadLetterInfo{});
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
    StoredMessage* message =
        consumer.ended || consumer.has_session ? nullptr : consumer.unsettled.find(token);
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
        return failure(Errc::message_too_large,
                       "a session's state may take at most max_message_bytes, " +
                           std::to_string(options_.max_message_bytes));
    }
    if (auto fault = context_.find_fault(name_, state ? Growth::adds : Growth::none)) {
        return std::move(*fault);
    }
    if (context_.has_journal()) {
        context_.note(
            SessionStateSet{.entity = id_, .session_id = consumer.session_id, .state = state});
    }
    consumer.session->state = state ? std::make_unique<std::string>(*std::move(state)) : nullptr;
    return core::Done{};
}

void Entity::set_interest(Consumer& consumer, bool interested) {
    if (consumer.session == nullptr) {
        consumers_.set_interested(consumer, interested);
    } else {
        consumer.interest = interested ? Interest::interested : Interest::none;
    }
}

AvailableMessages& Entity::available_to(const Consumer& consumer) noexcept {
    return consumer.session != nullptr ? consumer.session->available : available_;
}

Failure Entity::lock_lost(const Consumer& consumer) const {
    return failure(Errc::lock_lost, consumer.has_session ? "the lock of session '" +
                                                               consumer.session_id + "' is lost"
                                                         : std::string{"the receiver is closed"});
}

} // namespace sessionq::broker
