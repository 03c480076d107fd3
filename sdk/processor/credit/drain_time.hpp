// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <optional>

#include <sessionq/time.hpp>

namespace sessionq::detail::processor {

/// Estimates the shortest time in which a broker answers a drain. `SessionFlow` sends a drain when
/// only this time is left until the idle timeout ends. So the answer is there when the timeout
/// ends, and hardly earlier. All sessions of a receive thread share one estimate.
class DrainTime {
public:
    /// The broker answered a drain after `taken`.
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

} // namespace sessionq::detail::processor
