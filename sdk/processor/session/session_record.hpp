// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sessionq/time.hpp>

namespace sessionq::processor {

/// Attempts to handle a message that were begun and did not end.
struct NotedAttempts {
    std::int64_t sequence{0};
    std::uint32_t begun{0}; ///< zero: none
};

/// What processors keep with a session, beside the application's state: until when nothing of it is
/// to be handled (`FailurePolicy::retry_later`), and which message may kill its consumers
/// (`CrashGuard`). The instant is the wall clock's, because another
/// machine may read it.
struct SessionRecord {
    WallTime not_before{}; ///< the clock's origin: no delay
    Duration delay{};      ///< as long as it was when it began
    NotedAttempts attempts{};

    /// What is left of the delay. Unset: there is none. A clock that was set back, or differs, does
    /// not prolong it.
    [[nodiscard]] std::optional<Duration> left(WallTime now) const noexcept;

    /// Bytes of a later version, or of another program, tell nothing.
    [[nodiscard]] static SessionRecord read(std::string_view bytes) noexcept;
    /// Empty: there is nothing to keep.
    [[nodiscard]] std::string write() const;
};

} // namespace sessionq::processor
