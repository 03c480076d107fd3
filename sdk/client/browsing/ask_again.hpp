// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <sessionq/backoff_options.hpp>
#include <sessionq/time.hpp>

#include "core/backoff.hpp"

namespace sessionq::client {

/// Decides when `BrowserWait` asks the broker again after an answer without a message. At least 50
/// ms pass from request to request, then twice that, up to a second. A broker that has waited for
/// longer is asked again at once.
///
/// So brokers that can wait for a message and brokers that cannot need no other distinction.
class AskAgain {
public:
    static constexpr BackoffOptions spacing{.min = std::chrono::milliseconds{50},
                                            .max = std::chrono::seconds{1}};

    /// The request that was made at `asked` was answered without a message. Returns when to make
    /// the next request.
    [[nodiscard]] TimePoint next(TimePoint asked) noexcept {
        return asked + core::Backoff::at(spacing, answers_++);
    }

private:
    std::uint32_t answers_{0};
};

} // namespace sessionq::client
