// SPDX-License-Identifier: MIT
#include <sessionq/message_context.hpp>
#include <sessionq/session_context.hpp>

#include "core/access.hpp"
#include "core/as_result.hpp"
#include "processor/message/handled_message.hpp"

namespace sessionq::inline v1 {
namespace {

void settle(detail::processor::HandledMessage& call, ports::Settlement settlement) {
    ports::check_properties_to_modify(settlement.properties_to_modify);
    call.settle(std::move(settlement));
}

} // namespace

const std::string& SessionContext::session_id() const noexcept { return session_->session_id(); }
const std::string& SessionContext::entity() const noexcept { return session_->entity(); }
Deadline SessionContext::lock_expires() const noexcept { return session_->lock_expires(); }
std::stop_token SessionContext::stop_token() const noexcept { return session_->stop_token(); }
void SessionContext::release() noexcept { session_->release(); }

const ReceivedMessage& MessageContext::message() const noexcept { return call_->message; }
SessionContext MessageContext::session() const noexcept {
    return detail::client::Access::make<SessionContext>(call_->session());
}
std::uint32_t MessageContext::attempt() const noexcept { return call_->attempt(); }
Deadline MessageContext::deadline() const noexcept { return call_->message.deadline(); }
std::stop_token MessageContext::stop_token() const noexcept { return call_->stop_token(); }
bool MessageContext::settled() const noexcept { return call_->decided(); }
void MessageContext::fail(Failure failure) noexcept { call_->fail(std::move(failure)); }

void MessageContext::complete() { call_->settle({.outcome = ports::Outcome::complete}); }
void MessageContext::abandon(Properties properties_to_modify) {
    settle(*call_, {.outcome = ports::Outcome::abandon,
                    .properties_to_modify = std::move(properties_to_modify)});
}
void MessageContext::release() { call_->settle({.outcome = ports::Outcome::release}); }
void MessageContext::dead_letter(std::string reason, std::string description,
                                 Properties properties_to_modify) {
    settle(*call_, {.outcome = ports::Outcome::dead_letter,
                    .dead_letter = ports::to_dead_letter(reason, description),
                    .properties_to_modify = std::move(properties_to_modify)});
}
void MessageContext::defer(Properties properties_to_modify) {
    settle(*call_, {.outcome = ports::Outcome::defer,
                    .properties_to_modify = std::move(properties_to_modify)});
}

Result<void> MessageContext::try_complete() noexcept {
    return core::as_result([&] { complete(); });
}
Result<void> MessageContext::try_abandon(Properties properties_to_modify) noexcept {
    return core::as_result([&] { abandon(std::move(properties_to_modify)); });
}
Result<void> MessageContext::try_release() noexcept {
    return core::as_result([&] { release(); });
}
Result<void> MessageContext::try_dead_letter(std::string reason, std::string description,
                                             Properties properties_to_modify) noexcept {
    return core::as_result([&] {
        dead_letter(std::move(reason), std::move(description), std::move(properties_to_modify));
    });
}
Result<void> MessageContext::try_defer(Properties properties_to_modify) noexcept {
    return core::as_result([&] { defer(std::move(properties_to_modify)); });
}

} // namespace sessionq::inline v1
