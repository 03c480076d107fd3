// SPDX-License-Identifier: MIT
#include <sessionq/locked_message.hpp>

#include <utility>

#include "client/calls/blocking.hpp"
#include "client/receiving/session_receiver_operations.hpp"
#include "client/receiving/unanswered_settlements.hpp"
#include "core/access.hpp"
#include "core/as_result.hpp"

namespace sessionq::inline v1 {

LockedMessage::LockedMessage(std::shared_ptr<detail::client::MessageHolder> session,
                             std::shared_ptr<detail::client::HeldDelivery> delivery) noexcept
    : session_{std::move(session)}, delivery_{std::move(delivery)} {}

LockedMessage::LockedMessage(LockedMessage&& other) noexcept = default;

LockedMessage& LockedMessage::operator=(LockedMessage&& other) noexcept = default;

LockedMessage::~LockedMessage() = default;

const ReceivedMessage& LockedMessage::message() const {
    return detail::client::Access::delivery(*this)->message;
}

bool LockedMessage::settled() const {
    return detail::client::Access::delivery(*this)->settled_by_sender ||
           detail::client::Access::delivery(*this)->decided.load(std::memory_order_acquire);
}

Deadline LockedMessage::lock_expires() const {
    const auto& lock = detail::client::Access::delivery(*this)->own_lock;
    return lock != nullptr ? lock->expires()
                           : detail::client::Access::session(*this)->lock_expires();
}

std::stop_token LockedMessage::stop_token() const {
    const auto& lock = detail::client::Access::delivery(*this)->own_lock;
    return lock != nullptr ? lock->stop_token()
                           : detail::client::Access::session(*this)->stop_token();
}

Deadline LockedMessage::renew_lock(const CallOptions& call) {
    return detail::client::block(detail::client::renew_lock(*this, call));
}

void LockedMessage::complete(const CallOptions& call) {
    detail::client::block(detail::client::settle(*this, ports::Outcome::complete, call));
}

void LockedMessage::abandon(Properties properties_to_modify, const CallOptions& call) {
    detail::client::block(detail::client::settle(*this, ports::Outcome::abandon, call,
                                                 std::move(properties_to_modify)));
}

void LockedMessage::release(const CallOptions& call) {
    detail::client::block(detail::client::settle(*this, ports::Outcome::release, call));
}

void LockedMessage::defer(Properties properties_to_modify, const CallOptions& call) {
    detail::client::block(detail::client::settle(*this, ports::Outcome::defer, call,
                                                 std::move(properties_to_modify)));
}

void LockedMessage::dead_letter(std::string reason, std::string description,
                                Properties properties_to_modify, const CallOptions& call) {
    detail::client::block(detail::client::settle(
        *this, ports::Outcome::dead_letter, call, std::move(properties_to_modify),
        {.reason = std::move(reason), .description = std::move(description)}));
}

Result<Deadline> LockedMessage::try_renew_lock(const CallOptions& call) noexcept {
    return core::as_result([&] { return renew_lock(call); });
}

Result<void> LockedMessage::try_complete(const CallOptions& call) noexcept {
    return core::as_result([&] { complete(call); });
}

Result<void> LockedMessage::try_abandon(Properties properties_to_modify,
                                        const CallOptions& call) noexcept {
    return core::as_result([&] { abandon(std::move(properties_to_modify), call); });
}

Result<void> LockedMessage::try_release(const CallOptions& call) noexcept {
    return core::as_result([&] { release(call); });
}

Result<void> LockedMessage::try_defer(Properties properties_to_modify,
                                      const CallOptions& call) noexcept {
    return core::as_result([&] { defer(std::move(properties_to_modify), call); });
}

Result<void> LockedMessage::try_dead_letter(std::string reason, std::string description,
                                            Properties properties_to_modify,
                                            const CallOptions& call) noexcept {
    return core::as_result([&] {
        dead_letter(std::move(reason), std::move(description), std::move(properties_to_modify),
                    call);
    });
}

} // namespace sessionq::inline v1
