// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <set>
#include <string>

#include <sessionq/time.hpp>

namespace sessionq::processor {

/// Finds locks that are too short for the way to the broker. The first renewal at an entity
/// measures that way. Later ones are not looked at: a broker that stands still for a while says
/// nothing about the lock's length.
class FirstRenewals {
public:
    /// A renewal that takes this share of the lock leaves too little for one that is late.
    static constexpr int longest_share = 4;

    /// The broker answered a renewal at `entity` after `took`. The lock lasts `length`. Returns
    /// what is wrong in words, or nothing.
    [[nodiscard]] std::string judge(const std::string& entity, Duration took, Duration length);

private:
    std::set<std::string> seen_{};
};

} // namespace sessionq::processor
