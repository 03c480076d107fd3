// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <string_view>

#include <sessionq/backoff_options.hpp>

namespace sessionq::inline v1 {

/// How a `Sender` reacts when a try may have reached the broker, because only its answer is missing
/// (`Failure::outcome_unknown`).
enum class UnknownOutcome : std::uint8_t {
    fail,   ///< Tell the caller.
    resend, ///< Send again: at least once. See `SenderOptions`.
};

/// For example "resend".
[[nodiscard]] std::string_view to_string(UnknownOutcome action) noexcept;

/// Writes `to_string(action)`.
std::ostream& operator<<(std::ostream& out, UnknownOutcome action);

/// How a `Sender` retries. An aggregate for designated initialisers. A bad value throws
/// `Error{Errc::invalid_option}` naming the member.
///
/// Safety: a message that the broker refused or that never left is sent again without risk. If the
/// outcome is unknown, the first try may have succeeded. All tries have the same message ids. So
/// sending again is safe if the entity detects duplicates, or if handlers ignore a message id that
/// they know. Otherwise messages can be there twice, and the second copy can come after later
/// messages of its session.
///
/// Settlements are not retried: they belong to the link that has the lock. If it is lost, so is the
/// lock, and the broker redelivers the message.
struct SenderOptions {
    /// Tries of one send or `schedule`, the first included. Only failures that are `retryable` are
    /// followed by another try, and only before the deadline. Range: 1 to 1,000. Default 1.
    std::uint32_t max_attempts{1};

    /// Delays between tries. Default 100 ms to 30 s.
    BackoffOptions backoff{};

    /// Whether a send with an unknown outcome is tried again. `schedule` never is, because no
    /// broker finds duplicates before they are due. No effect with `max_attempts` 1. Default
    /// `fail`.
    UnknownOutcome unknown_outcome{UnknownOutcome::fail};
};

} // namespace sessionq::inline v1
