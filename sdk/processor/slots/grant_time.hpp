// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include <sessionq/time.hpp>

namespace sessionq::detail::processor {

/// Estimates how soon a broker grants a session that is ready. If an accept takes longer than
/// `patience`, `AcceptMachine` assumes that no session is ready. The time of a grant is not
/// measured, because the accept may have waited for a session. The time of a close is measured
/// instead: a close takes a round trip too, and waits for nothing.
class GrantTime {
public:
    /// The broker answered a close after `taken`.
    void closed_in(Duration taken) noexcept { usual_ += (std::min(taken, most) - usual_) / 8; }
    [[nodiscard]] Duration patience() const noexcept { return std::clamp(usual_ * 4, least, most); }

private:
    static constexpr Duration least = std::chrono::milliseconds{2};
    static constexpr Duration most = std::chrono::milliseconds{200};

    Duration usual_{std::chrono::milliseconds{5}};
};

} // namespace sessionq::detail::processor
