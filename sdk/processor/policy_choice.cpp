// SPDX-License-Identifier: MIT
#include "processor/policy_choice.hpp"

#include <utility>

#include "processor/exception_text.hpp"
#include "processor/options_check.hpp"
#include "processor/workplace.hpp"

namespace sessionq::processor {

std::unique_ptr<FailurePolicy> choose_policy(const SessionView& session,
                                             const ReceivedMessage& message, std::uint32_t attempt,
                                             std::exception_ptr error) noexcept {
    const SharedState& shared = session.shared();
    if (!shared.handlers.failure) {
        return nullptr;
    }
    std::unique_ptr<FailurePolicy> chosen;
    try {
        const OperationContext::Scope scope{session.context(message.deadline())};
        chosen = std::make_unique<FailurePolicy>(
            shared.handlers.failure({.exception = std::move(error),
                                     .message = message,
                                     .entity = session.entity(),
                                     .session_id = session.session_id(),
                                     .attempt = attempt,
                                     .configured = shared.options.failure_policy}));
    } catch (...) {
        session.report(
            ErrorSource::failure_policy,
            {.code = Errc::handler_failed, .detail = exception_text(std::current_exception())},
            {.message = &message, .attempt = attempt});
        return nullptr;
    }
    try {
        check_failure_policy("on_failure", *chosen, shared.options,
                             session.workplace().endpoint.capabilities(), shared.scope);
    } catch (const Error& refused) {
        session.report(ErrorSource::failure_policy, refused.failure(),
                       {.message = &message, .attempt = attempt});
        return nullptr;
    }
    return chosen;
}

} // namespace sessionq::processor
