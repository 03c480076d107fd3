// SPDX-License-Identifier: MIT
#pragma once

#include <sessionq/processor_options.hpp>

namespace sessionq::test {

/// Where a test names no delay of abandoning, there is none: most tests fail a message to see what
/// follows.
[[nodiscard]] inline SessionProcessorOptions without_default_delay(
    SessionProcessorOptions options) {
    FailurePolicy& policy = options.failure_policy;
    if (policy.abandon_delay.max == FailurePolicy{}.abandon_delay.max) {
        policy.abandon_delay = FailurePolicy::abandon_at_once().abandon_delay;
    }
    return options;
}

} // namespace sessionq::test
