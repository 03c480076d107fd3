// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

#include <sessionq/backoff_options.hpp>
#include <sessionq/time.hpp>

#include "core/random.hpp"

namespace sessionq::core {

/// Decides how long to wait after the n-th failure in a row (R17). Its randomness is injected.
class Backoff {
public:
    explicit Backoff(BackoffOptions options) noexcept : options_{options} {}

    /// The delay before the next try: between half and all of min x 2^failures, at most max.
    [[nodiscard]] Duration next(Random& random) noexcept {
        return jittered(at(options_, failures_++), random);
    }

    /// Whether a success that lasted for `good` ends the row of failures. It must have lasted ten
    /// times the wait that would follow, so that no fault brings more tries a minute.
    [[nodiscard]] bool outlasted_by(Duration good) const noexcept {
        return good >= std::min(options_.max, at(options_, failures_) * 10);
    }
    void reset() noexcept { failures_ = 0; }
    [[nodiscard]] std::uint32_t failures() const noexcept { return failures_; }

    /// min x 2^failures, at most max.
    [[nodiscard]] static Duration at(const BackoffOptions& options,
                                     std::uint32_t failures) noexcept {
        Duration delay = options.min;
        for (std::uint32_t i = 0; i < failures && delay < options.max; ++i) {
            delay = delay > options.max / 2 ? options.max : delay * 2;
        }
        return std::min(delay, options.max);
    }

    /// Between half and all of `full`, so that clients that failed together do not retry together.
    [[nodiscard]] static Duration jittered(Duration full, Random& random) noexcept {
        const Duration half = full / 2;
        return half + Duration{static_cast<Duration::rep>(
                          random.fraction() * static_cast<double>((full - half).count()))};
    }

private:
    BackoffOptions options_;
    std::uint32_t failures_{0};
};

} // namespace sessionq::core
