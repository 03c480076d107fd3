// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include <sessionq/time.hpp>

namespace sessionq::processor {

/// Estimates how soon a broker grants a session that is ready. An accept that takes longer than
/// `patience` is taken to wait for a session. What a grant took does not tell whether it waited for
/// one. The answer to a close takes a round trip too and waits for nothing.
class GrantTime {
public:
    /// A close was answered after that time.
    void closed_in(Duration taken) noexcept { usual_ += (std::min(taken, most) - usual_) / 8; }
    [[nodiscard]] Duration patience() const noexcept { return std::clamp(usual_ * 4, least, most); }

private:
    static constexpr Duration least = std::chrono::milliseconds{2};
    static constexpr Duration most = std::chrono::milliseconds{200};

    Duration usual_{std::chrono::milliseconds{5}};
};

} // namespace sessionq::processor
