// SPDX-License-Identifier: MIT
#include "broker/entity_state.hpp"

#include "core/id_check.hpp"
#include "core/session_id.hpp"

namespace sessionq::broker {

std::optional<Failure> EntityState::find_receive_fault() const {
    if (kind == EntityKind::topic) {
        return failure(Errc::not_supported,
                       "a topic cannot be received from; receive from its subscriptions");
    }
    // A dead-letter sub-queue may hold messages that could not be forwarded.
    if (forwards() && !is_dead_letter_queue) {
        return failure(Errc::not_supported,
                       "its messages are forwarded to '" + options.forward_to + "'");
    }
    return std::nullopt;
}

std::optional<Failure> EntityState::find_send_fault() const {
    if (is_dead_letter_queue) {
        return failure(Errc::not_supported, "a dead-letter sub-queue cannot be sent to");
    }
    if (kind == EntityKind::subscription) {
        return failure(Errc::not_supported, "a subscription cannot be sent to; send to its topic");
    }
    return std::nullopt;
}

std::optional<Failure> EntityState::find_fault(const MessageContent& message) const {
    const auto session_id = message.session_id();
    const auto time_to_live = message.time_to_live();
    if (options.requires_session && !session_id) {
        return failure(Errc::session_required,
                       "the message has no session id and the entity requires sessions; set a "
                       "session id");
    }
    const auto fault_of = [this](std::string_view field, std::string_view value) {
        const std::string_view fault = core::id_fault(value);
        return fault.empty()
                   ? std::nullopt
                   : std::optional{failure(Errc::invalid_argument,
                                           std::string{field} + " " + std::string{fault})};
    };
    if (auto fault = fault_of("session_id", session_id.value_or(std::string_view{}))) {
        return fault;
    }
    // A message id may have any bytes, because it may be of the type binary.
    if (core::characters(message.message_id()) > core::max_id_length) {
        return failure(Errc::invalid_argument, "message_id is longer than 128 characters");
    }
    if (time_to_live && time_to_live->count() <= 0) {
        return failure(Errc::invalid_argument, "time_to_live must be positive");
    }
    if (message.wire_bytes() > options.max_message_bytes) {
        return failure(Errc::message_too_large, "the message has " +
                                                    std::to_string(message.wire_bytes()) +
                                                    " bytes, and max_message_bytes is " +
                                                    std::to_string(options.max_message_bytes));
    }
    return std::nullopt;
}

std::optional<Failure> EntityState::find_room_fault(std::uint64_t bytes,
                                                    StoredBytes::For what) const {
    const auto why = context.stored().find_fault(bytes, options.max_size_bytes, what);
    return why ? std::optional{failure(Errc::quota_exceeded, *why)} : std::nullopt;
}

Failure EntityState::failure(Errc code, std::string_view about) const {
    return {.code = code, .detail = "entity '" + name + "': " + std::string{about}};
}

Failure EntityState::deleted() const {
    return failure(Errc::entity_not_found, "the entity was deleted");
}

Session* EntityState::session_of(const MessageContent& message) {
    return options.requires_session
               ? &sessions.obtain(message.session_id().value_or(std::string_view{}))
               : nullptr;
}

void EntityState::push_available(StoredMessage& message) {
    if (message.session != nullptr) {
        message.session->available.push(message);
    } else {
        available.push(message);
    }
}

void EntityState::remove(StoredMessage& message) {
    Session* session = message.session;
    if (session != nullptr) {
        session->available.remove(message);
    } else {
        available.remove(message);
    }
    store.remove(message);
    if (session != nullptr) {
        sessions.update_lists(*session);
        if (!session->holder) {
            sessions.refresh(*session, context.now());
        }
    }
}

bool EntityState::is_in(const StoredMessage& message, std::string_view session_id) {
    const auto own = message.content->session_id();
    return own && core::is_same_session(*own, session_id);
}

Peeked EntityState::peek(std::int64_t from, std::uint32_t max,
                         const std::optional<std::string>& session_id) {
    Peeked peeked{.searched_to = from};
    if (max == 0) {
        return peeked;
    }
    const Searched searched = search(from, session_id, [&](const StoredMessage& message) {
        peeked.messages.push_back(describe_delivery(message));
        return peeked.messages.size() < max;
    });
    peeked.searched_to = searched.to;
    peeked.is_complete = searched.reached_end || peeked.messages.size() == max;
    return peeked;
}

} // namespace sessionq::broker
