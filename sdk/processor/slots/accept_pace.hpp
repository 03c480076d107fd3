// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include <sessionq/error.hpp>

#include "core/backoff.hpp"

namespace sessionq::processor {

/// Decides when a target may be asked again after an answer that brought no session (R5, R17).
class AcceptPace {
public:
    /// Answers that bring nothing sooner than this after the question are spaced to it, so that no
    /// broker can make a processor spin.
    static constexpr Duration min_interval = std::chrono::milliseconds{100};

    explicit AcceptPace(const BackoffOptions& backoff) noexcept : backoff_{backoff} {}

    void succeeded() noexcept {
        backoff_.reset();
        told_ = Errc::cancelled;
    }

    /// Whether to tell the application. Where no connection could be made there is no backoff: the
    /// port has waited already, and the processor would only come late to a connection that is
    /// back. Accepts that were under way together fail once, and what fails in the same way before
    /// the pause is over is not told again.
    [[nodiscard]] bool failed(Errc code, TimePoint asked_at, TimePoint now,
                              core::Random& random) noexcept {
        const bool is_repeated = code == told_ && now < wait_until_;
        if (code == Errc::connection_refused || code == Errc::no_session_available) {
            wait_until_ = std::max(wait_until_, asked_at + min_interval);
        }
        if (code == Errc::no_session_available) {
            succeeded();
            return false;
        }
        const bool is_again = asked_at == counted_at_ && code == Errc::connection_refused;
        if (asked_at > counted_at_ || is_again) {
            counted_at_ = now;
            if (code != Errc::connection_refused) {
                wait_until_ = std::max(wait_until_, now + backoff_.next(random));
            }
        }
        told_ = code;
        return code != Errc::cancelled && !is_repeated;
    }

    [[nodiscard]] TimePoint wait_until() const noexcept { return wait_until_; }

private:
    core::Backoff backoff_;
    TimePoint counted_at_{TimePoint::min()};
    TimePoint wait_until_{TimePoint::min()};
    Errc told_{Errc::cancelled}; ///< that one: nothing
};

} // namespace sessionq::processor
