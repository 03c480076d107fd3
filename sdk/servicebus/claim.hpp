// SPDX-License-Identifier: MIT
#pragma once

#include <sessionq/time.hpp>

#include "core/backoff.hpp"

namespace sessionq::detail::servicebus {

/// The right to use one node of a broker, by a token that was sent for it. Decides when a token is
/// sent again: before the one in force expires, and after a failure with growing waits (R17). No
/// I/O, no clock.
class Claim {
public:
    /// A token is on its way; `granted` or `failed` follows.
    void asked() noexcept { renew_at_ = TimePoint::max(); }

    /// The broker accepted a token valid for `life`. Zero means our clock is wrong; trust the
    /// broker's.
    void granted(TimePoint now, Duration life) noexcept;

    /// A token that is in force stays in force.
    void failed(TimePoint now, core::Random& random) noexcept;

    /// The broker rejected a use that the token allows: the token is useless from now on.
    void reject() noexcept;

    [[nodiscard]] bool is_valid(TimePoint now) const noexcept { return now < valid_until_; }

    /// Whether a token must be sent although nobody waits for it.
    [[nodiscard]] bool is_due(TimePoint now) const noexcept { return now >= renew_at_; }
    /// When that is; `TimePoint::max()`: never.
    [[nodiscard]] TimePoint due() const noexcept { return renew_at_; }

private:
    TimePoint valid_until_{TimePoint::min()};
    TimePoint renew_at_{TimePoint::max()};
    core::Backoff backoff_{{.min = std::chrono::seconds{1}, .max = std::chrono::seconds{30}}};
};

} // namespace sessionq::detail::servicebus
