// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <sessionq/backoff_options.hpp>
#include <sessionq/time.hpp>

#include "core/backoff.hpp"

namespace sessionq::client {

/// Decides when a broker that had no message for a browser is asked again. The one place that tells
/// brokers that can wait from those that cannot: from request to request at least 50 ms pass, then
/// twice that, up to a second. A broker that has waited for longer is asked again at once.
class AskAgain {
public:
    static constexpr BackoffOptions spacing{.min = std::chrono::milliseconds{50},
                                            .max = std::chrono::seconds{1}};

    /// The request that was made at `asked` was answered with no message. Returns when to make the
    /// next one.
    [[nodiscard]] TimePoint next(TimePoint asked) noexcept {
        return asked + core::Backoff::at(spacing, answers_++);
    }

private:
    std::uint32_t answers_{0};
};

} // namespace sessionq::client
