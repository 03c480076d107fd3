#pragma once

#include <algorithm>
#include <cstdint>

#include <sessionq/backoff_options.hpp>

#include "core/random.hpp"

namespace sessionq::servicebus {

/// Decides when a connection may be tried again (R17). A peer that lets connections in and ends
/// them at once is a failure like one that refuses them: only a connection that lasts begins a new
/// count.
class ReconnectPolicy {
public:
    explicit ReconnectPolicy(BackoffOptions options) noexcept : options_{options} {}

    void opened(TimePoint now) noexcept {
        is_open_ = true;
        opened_at_ = now;
    }

    /// An attempt failed, or the connection is over. Returns when the next attempt may be.
    [[nodiscard]] TimePoint failed(TimePoint now, core::Random& random) noexcept {
        if (is_open_ && now - opened_at_ >= options_.min * 10) {
            failures_ = 0;
        }
        is_open_ = false;
        Duration full = options_.min;
        for (std::uint32_t i = 0; i < failures_ && full < options_.max; ++i) {
            full = full > options_.max / 2 ? options_.max : full * 2;
        }
        ++failures_;
        const Duration half = full / 2;
        return now + half +
               Duration{static_cast<Duration::rep>(random.fraction() *
                                                   static_cast<double>((full - half).count()))};
    }

private:
    BackoffOptions options_;
    TimePoint opened_at_{};
    std::uint32_t failures_{0};
    bool is_open_{false};
};

} // namespace sessionq::servicebus
