// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <sessionq/time.hpp>

namespace sessionq::processor {

/// What processors keep with a session, beside the application's state: until when nothing of it is
/// to be handled (`FailurePolicy::retry_later`). The instant is the wall clock's, because another
/// machine may read it.
struct SessionRecord {
    WallTime not_before{}; ///< the clock's origin: no delay
    Duration delay{};      ///< as long as it was when it began

    /// What is left of the delay. Unset: there is none. A clock that was set back, or differs, does
    /// not prolong it.
    [[nodiscard]] std::optional<Duration> left(WallTime now) const noexcept;

    /// Bytes of a later version, or of another program, tell nothing.
    [[nodiscard]] static SessionRecord read(std::string_view bytes) noexcept;
    [[nodiscard]] std::string write() const;
};

} // namespace sessionq::processor
