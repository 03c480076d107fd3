// SPDX-License-Identifier: MIT
#pragma once

#include <set>
#include <string>

#include <sessionq/time.hpp>

#include "core/result.hpp"
#include "ports/session_link.hpp"

namespace sessionq::processor {

/// Finds locks that are too short for the way to the broker. `log_short_lock` asks it after a
/// renewal. The first renewal at an entity measures that way. Later ones are ignored, because a
/// broker that stands still for a while says nothing about the lock's length.
class RenewalBook {
public:
    /// A renewal that takes this share of the lock, a quarter, leaves too little time for a late
    /// one.
    static constexpr int longest_share = 4;

    /// The broker answered a renewal at `entity` after `took`. Returns a warning; empty: nothing is
    /// wrong.
    [[nodiscard]] std::string judge(const std::string& entity, Duration took,
                                    const core::Result<ports::LockGrant>& answer);

private:
    std::set<std::string> seen_{};
};

} // namespace sessionq::processor
