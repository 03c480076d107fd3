// SPDX-License-Identifier: MIT
#include <sessionq/session_receiver.hpp>

#include <utility>

#include "client/calls/blocking.hpp"
#include "client/receiving/session_receiver_operations.hpp"
#include "core/access.hpp"
#include "core/as_result.hpp"

namespace sessionq::inline v1 {

SessionReceiver::SessionReceiver(std::shared_ptr<detail::client::HeldSession> session) noexcept
    : session_{std::move(session)} {}

SessionReceiver::SessionReceiver(SessionReceiver&& other) noexcept = default;

SessionReceiver& SessionReceiver::operator=(SessionReceiver&& other) noexcept {
    if (this != &other) {
        detail::client::give_back(session_);
        session_ = std::move(other.session_);
    }
    return *this;
}

SessionReceiver::~SessionReceiver() { detail::client::give_back(session_); }

SessionReceiver SessionReceiver::accept(const Client& client, const std::string& entity,
                                        const std::string& session_id,
                                        SessionReceiverOptions options, const CallOptions& call) {
    return detail::client::block(detail::client::accept_session<SessionReceiver>(
        client,
        {.entity = entity,
         .session_id = session_id,
         .receiver = detail::client::settings_of(options)},
        call));
}

SessionReceiver SessionReceiver::accept_next(const Client& client, const std::string& entity,
                                             SessionReceiverOptions options,
                                             const CallOptions& call) {
    return detail::client::block(detail::client::accept_session<SessionReceiver>(
        client, {.entity = entity, .receiver = detail::client::settings_of(options)}, call));
}

std::optional<SessionReceiver> SessionReceiver::accept_next_if_any(const Client& client,
                                                                   const std::string& entity,
                                                                   Timeout wait,
                                                                   SessionReceiverOptions options,
                                                                   const CallOptions& call) {
    return detail::client::block(detail::client::accept_session<std::optional<SessionReceiver>>(
        client, {.entity = entity, .wait = wait, .receiver = detail::client::settings_of(options)},
        call));
}

const std::string& SessionReceiver::session_id() const {
    return detail::client::Access::session(*this)->status()->session_id();
}

const std::string& SessionReceiver::entity() const {
    return detail::client::Access::session(*this)->status()->entity();
}

Deadline SessionReceiver::lock_expires() const {
    return detail::client::Access::session(*this)->status()->lock_expires();
}

std::stop_token SessionReceiver::stop_token() const {
    return detail::client::Access::session(*this)->status()->stop_token();
}

std::optional<Failure> SessionReceiver::loss() const {
    return detail::client::Access::session(*this)->status()->loss();
}

std::vector<SessionMessage> SessionReceiver::receive(std::size_t max_messages, Timeout wait,
                                                     const CallOptions& call) & {
    return detail::client::block(detail::client::receive(*this, max_messages, wait, call));
}

std::optional<SessionMessage> SessionReceiver::receive_one(Timeout wait, const CallOptions& call) {
    return detail::client::block(detail::client::receive_one(*this, wait, call));
}

std::vector<SessionMessage> SessionReceiver::receive_deferred(
    std::vector<std::int64_t> sequence_numbers, const CallOptions& call) & {
    return detail::client::block(
        detail::client::receive_deferred(*this, std::move(sequence_numbers), call));
}

std::optional<std::string> SessionReceiver::state(const CallOptions& call) {
    return detail::client::block(detail::client::get_state(*this, call));
}

void SessionReceiver::set_state(std::optional<std::string> state, const CallOptions& call) {
    detail::client::block(detail::client::set_state(*this, std::move(state), call));
}

Deadline SessionReceiver::renew_lock(const CallOptions& call) {
    return detail::client::block(detail::client::renew_lock(*this, call));
}

void SessionReceiver::close(const CallOptions& call) {
    detail::client::block(detail::client::close(*this, call));
}

Result<SessionReceiver> SessionReceiver::try_accept(const Client& client, const std::string& entity,
                                                    const std::string& session_id,
                                                    SessionReceiverOptions options,
                                                    const CallOptions& call) noexcept {
    return core::as_result([&] { return accept(client, entity, session_id, options, call); });
}

Result<std::optional<SessionReceiver>> SessionReceiver::try_accept_next(
    const Client& client, const std::string& entity, Timeout wait, SessionReceiverOptions options,
    const CallOptions& call) noexcept {
    return core::as_result([&] { return accept_next_if_any(client, entity, wait, options, call); });
}

Result<std::vector<SessionMessage>> SessionReceiver::try_receive(
    std::size_t max_messages, Timeout wait, const CallOptions& call) & noexcept {
    return core::as_result([&] { return receive(max_messages, wait, call); });
}

Result<std::optional<SessionMessage>> SessionReceiver::try_receive_one(
    Timeout wait, const CallOptions& call) noexcept {
    return core::as_result([&] { return receive_one(wait, call); });
}

Result<std::vector<SessionMessage>> SessionReceiver::try_receive_deferred(
    std::vector<std::int64_t> sequence_numbers, const CallOptions& call) & noexcept {
    return core::as_result([&] { return receive_deferred(std::move(sequence_numbers), call); });
}

Result<std::optional<std::string>> SessionReceiver::try_state(const CallOptions& call) noexcept {
    return core::as_result([&] { return state(call); });
}

Result<void> SessionReceiver::try_set_state(std::optional<std::string> state,
                                            const CallOptions& call) noexcept {
    return core::as_result([&] { set_state(std::move(state), call); });
}

Result<Deadline> SessionReceiver::try_renew_lock(const CallOptions& call) noexcept {
    return core::as_result([&] { return renew_lock(call); });
}

Result<void> SessionReceiver::try_close(const CallOptions& call) noexcept {
    return core::as_result([&] { close(call); });
}

} // namespace sessionq::inline v1
