// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

#include <sessionq/batch_options.hpp>

namespace sessionq::detail::processor {

/// Decides how long messages wait for further messages of their batch (`BatchOptions::max_wait`).
/// `SessionMachine` asks it when messages come and when its timer is due. No I/O, no clock.
class GatherClock {
public:
    /// No message waits longer than `longest`, and no message waits beyond the instant `hold_half`.
    /// Without these limits, the hold or the lock of a session could end while its messages only
    /// wait for their batch. That could happen each time the session is accepted.
    GatherClock(const BatchOptions& options, Duration longest, TimePoint hold_half) noexcept
        : options_{options}, longest_{std::min(options.max_wait, longest)}, last_{hold_half} {}

    /// Whether messages wait for a batch at all.
    [[nodiscard]] bool is_used() const noexcept { return options_.max_wait > Duration::zero(); }

    /// A message waits from `now` on.
    void arrived(TimePoint now) noexcept {
        if (count_++ == 0) {
            until_ = std::min(now + longest_, last_);
        }
    }
    /// All messages that waited have gone.
    void gone() noexcept {
        count_ = 0;
        until_ = TimePoint::max();
    }

    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
    /// When the wait ends; TimePoint::max(): no message waits.
    [[nodiscard]] TimePoint until() const noexcept { return until_; }
    /// Whether the wait is over. `more_may_come`: the session may still get more messages.
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

} // namespace sessionq::detail::processor
