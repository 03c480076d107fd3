#pragma once

#include <algorithm>

#include <sessionq/time.hpp>

namespace sessionq::processor {

/// Estimates how soon a broker answers a drain, from below: what asks so long before an instant has
/// the answer then at the earliest.
class DrainTime {
public:
    /// A drain was answered after that time.
    void answered_in(Duration taken) noexcept {
        const Duration bounded = std::min(taken, most);
        least_ = bounded < least_ || !known_ ? bounded : least_ + (bounded - least_) / 16;
        known_ = true;
    }
    /// Zero before the first answer.
    [[nodiscard]] Duration least() const noexcept { return least_; }

private:
    static constexpr Duration most = std::chrono::seconds{1};

    Duration least_{};
    bool known_{false};
};

} // namespace sessionq::processor
