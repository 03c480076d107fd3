#pragma once

#include <cstdint>

#include <sessionq/processor_options.hpp>

#include "core/backoff.hpp"
#include "core/random.hpp"

namespace sessionq::processor {

/// What is done with a message whose handler threw.
struct FailureDecision {
    enum class Step : std::uint8_t {
        retry,
        abandon,
        dead_letter,
        park_session,
        dead_letter_session
    };
    Step step{Step::abandon};
    Duration delay{}; ///< with `retry` and `park_session`: from now
};

/// Decides by policy (R9). `attempt` is the one that failed, 1 at first. `may_wait` is false once
/// the session is being left or its lock is ending: then nothing is tried again here.
[[nodiscard]] inline FailureDecision decide_failure(const FailurePolicy& policy,
                                                    std::uint32_t attempt, bool may_wait,
                                                    core::Random& random) noexcept {
    if (may_wait && attempt < policy.max_attempts) {
        return {.step = FailureDecision::Step::retry,
                .delay = core::Backoff::jittered(core::Backoff::at(policy.retry_delay, attempt - 1),
                                                 random)};
    }
    switch (policy.action) {
    case FailurePolicy::Action::abandon: return {.step = FailureDecision::Step::abandon};
    case FailurePolicy::Action::dead_letter: return {.step = FailureDecision::Step::dead_letter};
    case FailurePolicy::Action::park_session:
        return may_wait ? FailureDecision{.step = FailureDecision::Step::park_session,
                                          .delay = policy.park_for}
                        : FailureDecision{.step = FailureDecision::Step::abandon};
    case FailurePolicy::Action::dead_letter_session:
        return {.step = FailureDecision::Step::dead_letter_session};
    }
    return {};
}

} // namespace sessionq::processor
