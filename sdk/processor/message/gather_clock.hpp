// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

#include <sessionq/batch_options.hpp>

namespace sessionq::processor {

/// Decides how long messages wait for more, to be handled in one batch
/// (`BatchOptions::max_wait`). No I/O, no clock.
class GatherClock {
public:
    /// `longest`: no message waits for longer. `hold_half`: nor beyond that instant. So a session
    /// whose hold or lock is bounded is not left with messages that only waited, again and again.
    GatherClock(const BatchOptions& options, Duration longest, TimePoint hold_half) noexcept
        : options_{options}, longest_{std::min(options.max_wait, longest)}, last_{hold_half} {}

    /// Messages wait at all.
    [[nodiscard]] bool is_used() const noexcept { return options_.max_wait > Duration::zero(); }

    /// A message waits from `now` on.
    void arrived(TimePoint now) noexcept {
        if (count_++ == 0) {
            until_ = std::min(now + longest_, last_);
        }
    }
    /// All that waited have gone.
    void gone() noexcept {
        count_ = 0;
        until_ = TimePoint::max();
    }

    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
    /// When the wait ends; TimePoint::max(): nothing waits.
    [[nodiscard]] TimePoint until() const noexcept { return until_; }
    /// The wait is over. `more_may_come`: at this link, as things are.
    [[nodiscard]] bool is_over(TimePoint now, bool more_may_come) const noexcept {
        return count_ != 0 && (count_ >= options_.max_messages || now >= until_ || !more_may_come);
    }

private:
    const BatchOptions options_;
    const Duration longest_;
    const TimePoint last_;
    std::uint32_t count_{0};
    TimePoint until_{TimePoint::max()};
};

} // namespace sessionq::processor
