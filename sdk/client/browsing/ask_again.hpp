// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <sessionq/backoff_options.hpp>
#include <sessionq/time.hpp>

#include "core/backoff.hpp"

namespace sessionq::detail::client {

/// Decides when `BrowserWait` asks the broker again after an answer without a message. The first
/// two requests start at least 50 ms apart. The distance then doubles with each answer, up to one
/// second. If the broker waited longer than the distance before it answered, it is asked again at
/// once.
///
/// So `BrowserWait` need not know whether the broker can wait for a message.
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

} // namespace sessionq::detail::client
