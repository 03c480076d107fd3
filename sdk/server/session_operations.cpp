// SPDX-License-Identifier: MIT
#include "server/session_operations.hpp"

#include <algorithm>

#include "server/management_answer.hpp"
#include "server/request_fields.hpp"

namespace sessionq::server::session_operations {
namespace {

// In milliseconds. Clients send it to list sessions regardless of when their state was set.
constexpr std::int64_t end_of_time = 253'402'300'799'999;

} // namespace

Answer renew_session_lock(const ManagedEntity& entity, const Request& request) {
    const Holder* holder = entity.held_session(request);
    if (holder == nullptr) {
        return session_lock_lost();
    }
    const broker::Instant now = entity.peer.now();
    const auto until = entity.queue->renew(*holder->consumer, now);
    if (!until) {
        return refuse(until.failure(), LockKind::session);
    }
    entity.peer.locks.note_renewal(holder->number, until.value());
    return ok(
        amqp::Value::map({{"expiration", amqp::Timestamp::of(wall_time(until.value(), now))}}));
}

Answer set_session_state(const ManagedEntity& entity, const Request& request) {
    const Holder* holder = entity.held_session(request);
    if (holder == nullptr) {
        return session_lock_lost();
    }
    const amqp::Value* state = request.body.find("session-state");
    std::optional<std::string> bytes;
    if (state != nullptr && !state->is_null()) {
        const auto given = state->bytes();
        if (!given) {
            return lacks("session-state");
        }
        bytes = *given;
    }
    const auto done =
        entity.queue->set_state(*holder->consumer, std::move(bytes), entity.peer.now());
    return done ? ok() : refuse(done.failure(), LockKind::session);
}

Answer get_session_state(const ManagedEntity& entity, const Request& request) {
    const Holder* holder = entity.held_session(request);
    if (holder == nullptr) {
        return session_lock_lost();
    }
    auto state = entity.queue->get_state(*holder->consumer, entity.peer.now());
    if (!state) {
        return refuse(state.failure(), LockKind::session);
    }
    return ok(amqp::Value::map(
        {{"session-state", state.value() ? amqp::Value::binary(*state.value()) : amqp::Value{}}}));
}

Answer list_sessions(const ManagedEntity& entity, const Request& request) {
    const Page page = read_page(request.body);
    if (!page.missing.empty()) {
        return lacks(page.missing);
    }
    const std::size_t top = std::min(page.top, entity.peer.limits.sessions_per_page);
    const auto since = read_number(request.body, "last-updated-time");
    const auto ids = since && *since < end_of_time
                         ? entity.queue->list_sessions_set_after(amqp::Timestamp{*since}.time(),
                                                                 page.skip, top, entity.peer.now())
                         : entity.queue->list_sessions(page.skip, top, entity.peer.now());
    if (ids.empty()) {
        return no_content();
    }
    const auto next = static_cast<std::int32_t>(page.skip + ids.size());
    return ok(amqp::Value::map({{"skip", next},
                                {"sessions-ids", amqp::Array{.element = string_code,
                                                             .items = {ids.begin(), ids.end()}}}}));
}

} // namespace sessionq::server::session_operations
