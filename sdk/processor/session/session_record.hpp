// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sessionq/time.hpp>

namespace sessionq::detail::processor {

/// The attempts to handle one message that have begun and have not ended.
struct NotedAttempts {
    std::int64_t sequence{0};
    std::uint32_t begun{0}; ///< how many; zero: none
};

/// The record of a session that processors keep at the broker, beside the application's state. The
/// record says until when no message of the session may be handled (`FailurePolicy::retry_later`),
/// and which message may kill its consumers (`CrashGuard`). `RecordKeeper` writes it, and the next
/// holder of the session reads it. The instant is wall-clock time, because another machine may read
/// it.
struct SessionRecord {
    WallTime not_before{}; ///< the end of the delay; the clock's origin: no delay
    Duration delay{};      ///< the length of the delay when it began
    NotedAttempts attempts{};

    /// Returns the rest of the delay. Unset: the record has no delay. If the clocks of two machines
    /// differ or a clock was set back, the rest is still no longer than `delay`.
    [[nodiscard]] std::optional<Duration> left(WallTime now) const noexcept;

    /// Decodes a record. Bytes of a later version or of another program give an empty one.
    [[nodiscard]] static SessionRecord read(std::string_view bytes) noexcept;
    /// Encodes the record. Empty: there is nothing to keep.
    [[nodiscard]] std::string write() const;
};

} // namespace sessionq::detail::processor
