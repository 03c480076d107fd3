// SPDX-License-Identifier: MIT
#pragma once

#include <set>
#include <string>

#include <sessionq/time.hpp>

#include "core/result.hpp"
#include "ports/session_link.hpp"

namespace sessionq::processor {

/// Finds locks that are too short for the way to the broker. The first renewal at an entity
/// measures that way. Later ones are not looked at: a broker that stands still for a while says
/// nothing about the lock's length.
class RenewalBook {
public:
    /// A renewal that takes this share of the lock leaves too little for one that is late.
    static constexpr int longest_share = 4;

    /// The broker answered a renewal at `entity` after `took`. Returns what is wrong in words, or
    /// nothing.
    [[nodiscard]] std::string judge(const std::string& entity, Duration took,
                                    const core::Result<ports::LockGrant>& answer);

private:
    std::set<std::string> seen_{};
};

} // namespace sessionq::processor
