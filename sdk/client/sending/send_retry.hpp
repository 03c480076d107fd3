// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sessionq/deadline.hpp>
#include <sessionq/error.hpp>
#include <sessionq/sender_options.hpp>

#include "core/backoff.hpp"

namespace sessionq::detail::client {

/// Decides whether a send that failed is tried again, and when. Each `RetryingSend` has one. No
/// I/O, no clock.
class SendRetry {
public:
    SendRetry(const SenderOptions& options, std::uint64_t seed) noexcept
        : most_tries_{options.max_attempts},
          unknown_outcome_{options.unknown_outcome},
          backoff_{options.backoff},
          random_{seed} {}

    /// A try failed. Returns when the next try begins. Returns nothing if no try follows: the send
    /// then ends with `last_failure`.
    [[nodiscard]] std::optional<TimePoint> failed(const Failure& why, TimePoint now,
                                                  Deadline deadline) {
        const bool is_unknown = last_.outcome_unknown || why.outcome_unknown;
        ++tries_;
        last_ = why;
        last_.outcome_unknown = is_unknown;
        if (tries_ >= most_tries_ || why.code == Errc::timeout || !why.retryable() ||
            (is_unknown && unknown_outcome_ == UnknownOutcome::fail)) {
            return std::nullopt;
        }
        const TimePoint next = now + backoff_.next(random_);
        return deadline.passed(next) ? std::nullopt : std::optional{next};
    }

    /// Forbids further tries.
    void give_up() noexcept { most_tries_ = 0; }

    /// The failure of the last try. If the outcome of any try is unknown, the outcome of the send
    /// is unknown.
    [[nodiscard]] Failure last_failure() const {
        Failure failure = last_;
        if (tries_ > 1) {
            failure.detail += " (after " + std::to_string(tries_) + " tries)";
        }
        return failure;
    }

private:
    std::uint32_t most_tries_;
    UnknownOutcome unknown_outcome_;
    core::Backoff backoff_;
    core::Random random_;
    std::uint32_t tries_{0};
    Failure last_{};
};

} // namespace sessionq::detail::client
