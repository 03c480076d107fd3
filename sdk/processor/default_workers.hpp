// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

namespace sessionq::detail::processor {

/// The most worker threads that a processor has by default. If more handlers run at once, one
/// thread for each handler would be too many.
inline constexpr std::uint32_t most_default_workers = 64;

/// The most handlers at once that the options allow.
inline constexpr std::uint32_t most_calls_at_once = 1'000'000'000;

/// Returns how many handlers may run at once. An executor gets so many works at most. `calls`: the
/// limit of handlers over all sessions; zero: no limit.
[[nodiscard]] constexpr std::uint32_t calls_at_once(std::uint32_t sessions,
                                                    std::uint32_t calls_per_session,
                                                    std::uint32_t calls) noexcept {
    const std::uint64_t all = std::uint64_t{sessions} * calls_per_session;
    const std::uint64_t at_once = calls == 0 ? all : std::min<std::uint64_t>(all, calls);
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(at_once, 1, most_calls_at_once));
}

/// Returns the number of worker threads if the application does not set `worker_threads`: one
/// thread for each handler that may run at once, up to `most_default_workers`. `ProcessorRuntime`
/// asks for it.
[[nodiscard]] constexpr std::uint32_t default_workers(std::uint32_t sessions,
                                                      std::uint32_t calls_per_session,
                                                      std::uint32_t calls) noexcept {
    return std::min(calls_at_once(sessions, calls_per_session, calls), most_default_workers);
}

} // namespace sessionq::detail::processor
