// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include <sessionq/error.hpp>

#include "core/backoff.hpp"

namespace sessionq::detail::processor {

/// Decides when a target may be asked again after an answer that brought no session (R5, R17).
/// `AcceptMachine` has one `AcceptPace` for each target and one for each entity, and reports the
/// answers to them.
class AcceptPace {
public:
    /// The shortest time between two accepts if the first accept brought no session. Without this
    /// limit, a broker that answers at once would make the processor spin.
    static constexpr Duration min_interval = std::chrono::milliseconds{100};

    explicit AcceptPace(const BackoffOptions& backoff) noexcept : backoff_{backoff} {}

    void succeeded() noexcept {
        backoff_.reset();
        told_ = Errc::cancelled;
    }

    /// An accept failed. Returns whether to tell the application. The same failure is not told
    /// again before the pause is over.
    ///
    /// A failed connection causes no backoff here. The port has waited already, and a second wait
    /// would only delay the processor when the connection is back. Accepts that were under way
    /// together count as one failure.
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
    Errc told_{Errc::cancelled}; ///< the failure that was told last; `cancelled`: none
};

} // namespace sessionq::detail::processor
