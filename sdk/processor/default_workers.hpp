// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

namespace sessionq::processor {

/// More handlers than that at once should not each have a thread.
inline constexpr std::uint32_t most_default_workers = 64;

/// The most workers where nobody asked for a number: as many as handlers may run at once.
/// `calls`: of all sessions; zero: no limit.
[[nodiscard]] constexpr std::uint32_t default_workers(std::uint32_t sessions,
                                                      std::uint32_t calls_per_session,
                                                      std::uint32_t calls) noexcept {
    const std::uint64_t all = std::uint64_t{sessions} * calls_per_session;
    const std::uint64_t at_once = calls == 0 ? all : std::min<std::uint64_t>(all, calls);
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(at_once, 1, most_default_workers));
}

} // namespace sessionq::processor
