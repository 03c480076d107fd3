// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <sessionq/error.hpp>
#include <sessionq/failure_policy.hpp>

#include "core/backoff.hpp"
#include "core/random.hpp"

namespace sessionq::detail::processor {

/// The decision about a message whose handler failed.
struct FailureDecision {
    /// Unset: the message is tried again in place.
    std::optional<FailurePolicy::Action> action{FailurePolicy::Action::abandon};
    /// The time from now until the next try, the end of parking, or the return to the broker.
    Duration delay{};
};

/// The facts of a failure that the policy needs.
struct FailedAttempt {
    std::uint32_t attempt{1};    ///< the attempt that failed; 1 is the first
    std::uint32_t deliveries{0}; ///< deliveries that were counted before this one
    /// False once the session is being left or its lock is ending. No message may wait then.
    bool may_wait{true};
    /// False for an entity without sessions: the message waits alone, and others pass it.
    bool ordered{true};
};

/// Whether a handler that returned counts as failed, because it had to settle its message and did
/// not.
[[nodiscard]] constexpr bool is_unsettled(bool auto_complete, bool settled) noexcept {
    return !auto_complete && !settled;
}

/// The failure of a handler for which `is_unsettled` holds.
[[nodiscard]] inline Failure unsettled_failure() {
    return {.code = Errc::invalid_state,
            .detail = "the handler returned without settling the message"};
}

/// Returns the decision of a failure policy about a failed message (R9). `SessionMachine` calls it
/// when a handler has failed.
[[nodiscard]] inline FailureDecision decide_failure(const FailurePolicy& policy,
                                                    const FailedAttempt& failed,
                                                    core::Random& random) noexcept {
    using Action = FailurePolicy::Action;
    const auto wait = [&random](const BackoffOptions& delays, std::uint32_t failures) {
        return core::Backoff::jittered(core::Backoff::at(delays, failures), random);
    };
    if (failed.may_wait && failed.attempt < policy.max_attempts) {
        return {.action = std::nullopt, .delay = wait(policy.retry_delay, failed.attempt - 1)};
    }
    switch (policy.action) {
    case Action::park_session:
        return failed.may_wait
                   ? FailureDecision{.action = Action::park_session, .delay = policy.park_for}
                   : FailureDecision{};
    case Action::abandon:
        if (failed.may_wait && policy.abandon_delay.min > Duration::zero()) {
            return {.action = failed.ordered ? Action::park_session : Action::abandon,
                    .delay = wait(policy.abandon_delay, failed.deliveries)};
        }
        return {};
    case Action::retry_later: {
        const std::size_t last = policy.retry_delays.size() - 1;
        return {.action = Action::retry_later,
                .delay = policy.retry_delays[std::min<std::size_t>(failed.deliveries, last)]};
    }
    default: return {.action = policy.action};
    }
}

/// Decides when a message that its handler released goes back to the broker. The broker does not
/// count the delivery, so without a wait it would deliver the message again without end. The
/// message waits as long as an abandoned message does.
[[nodiscard]] inline FailureDecision decide_release(const FailurePolicy& policy,
                                                    FailedAttempt released,
                                                    core::Random& random) noexcept {
    return decide_failure({.abandon_delay = policy.abandon_delay}, released, random);
}

} // namespace sessionq::detail::processor
