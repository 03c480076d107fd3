// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <optional>

#include <sessionq/time.hpp>

namespace sessionq::processor {

/// Estimates the shortest time in which a broker answers a drain. Whoever asks that long before an
/// instant has the answer at that instant, and hardly earlier.
class DrainTime {
public:
    /// A drain was answered after that time.
    void answered_in(Duration taken) noexcept {
        const Duration bounded = std::min(taken, most);
        const Duration before = least_.value_or(most);
        least_ = bounded < before ? bounded : before + (bounded - before) / 16;
    }
    /// Zero before the first answer.
    [[nodiscard]] Duration least() const noexcept { return least_.value_or(Duration::zero()); }

private:
    static constexpr Duration most = std::chrono::seconds{1};

    std::optional<Duration> least_{};
};

} // namespace sessionq::processor
