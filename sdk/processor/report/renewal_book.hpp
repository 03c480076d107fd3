// SPDX-License-Identifier: MIT
#pragma once

#include <set>
#include <string>

#include <sessionq/time.hpp>

#include "core/result.hpp"
#include "ports/session_link.hpp"

namespace sessionq::detail::processor {

/// Finds locks that are too short for the round trip to the broker. `log_short_lock` asks it after
/// a renewal. The first renewal at an entity measures the round trip. Later renewals are ignored:
/// they may be slow because the broker stood still for a while, and that says nothing about the
/// lock's length.
class RenewalBook {
public:
    /// A renewal must take less than a quarter of the lock. Otherwise too little time is left if a
    /// renewal is late.
    static constexpr int longest_share = 4;

    /// The broker answered a renewal at `entity` after `took`. Returns a warning if the lock is too
    /// short; empty: nothing is wrong.
    [[nodiscard]] std::string judge(const std::string& entity, Duration took,
                                    const core::Result<ports::LockGrant>& answer);

private:
    std::set<std::string> seen_{};
};

} // namespace sessionq::detail::processor
