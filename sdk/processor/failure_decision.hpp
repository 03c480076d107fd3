#pragma once

#include <cstdint>
#include <optional>

#include <sessionq/processor_options.hpp>

#include "core/backoff.hpp"
#include "core/random.hpp"

namespace sessionq::processor {

/// What is done with a message whose handler threw.
struct FailureDecision {
    /// None: it is tried again.
    std::optional<FailurePolicy::Action> action{FailurePolicy::Action::abandon};
    Duration delay{}; ///< of the next try or the end of parking: from now
};

/// Decides by policy (R9). `attempt` is the one that failed, 1 at first. `may_wait` is false once
/// the session is being left or its lock is ending: then nothing is tried again here.
[[nodiscard]] inline FailureDecision decide_failure(const FailurePolicy& policy,
                                                    std::uint32_t attempt, bool may_wait,
                                                    core::Random& random) noexcept {
    if (may_wait && attempt < policy.max_attempts) {
        return {.action = std::nullopt,
                .delay = core::Backoff::jittered(core::Backoff::at(policy.retry_delay, attempt - 1),
                                                 random)};
    }
    const bool parks = policy.action == FailurePolicy::Action::park_session;
    if (parks && !may_wait) {
        return {};
    }
    return {.action = policy.action, .delay = parks ? policy.park_for : Duration::zero()};
}

} // namespace sessionq::processor
