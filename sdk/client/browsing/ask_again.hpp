// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <sessionq/backoff_options.hpp>
#include <sessionq/time.hpp>

#include "core/backoff.hpp"

namespace sessionq::client {

/// Decides when to ask a broker again that had no message for a browser. `BrowserWait` asks it
/// after each such answer. At least 50 ms pass from one request to the next, then twice that, up to
/// a second. A broker that can wait has used that time up by waiting, so it is asked again at once.
/// A broker that cannot wait is asked at this pace. No other place tells the two apart.
class AskAgain {
public:
    static constexpr BackoffOptions spacing{.min = std::chrono::milliseconds{50},
                                            .max = std::chrono::seconds{1}};

    /// The broker had no message for the request made at `asked`. Returns when to make the next
    /// one.
    [[nodiscard]] TimePoint next(TimePoint asked) noexcept {
        return asked + core::Backoff::at(spacing, answers_++);
    }

private:
    std::uint32_t answers_{0};
};

} // namespace sessionq::client
