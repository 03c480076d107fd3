// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include <sessionq/time.hpp>

namespace sessionq::processor {

/// Estimates how soon a broker grants a session that is ready. `AcceptMachine` assumes that an
/// accept waits for a session once it has taken longer than `patience`. The time of a grant cannot
/// be used, because it does not show whether the accept waited for a session. So the time of a
/// close is used: it takes a round trip too, and waits for nothing.
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

} // namespace sessionq::processor
