// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sessionq/time.hpp>

namespace sessionq::processor {

/// Attempts to handle a message that began and did not end.
struct NotedAttempts {
    std::int64_t sequence{0};
    std::uint32_t begun{0}; ///< how many; zero: none
};

/// The record that processors keep of a session at the broker, beside the application's state. It
/// says until when no message of the session may be handled (`FailurePolicy::retry_later`), and
/// which message may kill its consumers (`CrashGuard`). `RecordKeeper` writes it, and the next
/// holder of the session reads it. Its instant is wall-clock time, because another machine may read
/// it.
struct SessionRecord {
    WallTime not_before{}; ///< the end of the delay; the clock's origin: no delay
    Duration delay{};      ///< the length of the delay when it began
    NotedAttempts attempts{};

    /// The rest of the delay. Unset: there is none. A clock that differs or was set back does not
    /// prolong it.
    [[nodiscard]] std::optional<Duration> left(WallTime now) const noexcept;

    /// Decodes a record. Bytes of a later version or of another program give an empty one.
    [[nodiscard]] static SessionRecord read(std::string_view bytes) noexcept;
    /// Encodes the record. Empty: there is nothing to keep.
    [[nodiscard]] std::string write() const;
};

} // namespace sessionq::processor
