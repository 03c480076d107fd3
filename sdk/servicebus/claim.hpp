#pragma once

#include <cstdint>

#include <sessionq/time.hpp>

#include "core/random.hpp"

namespace sessionq::servicebus {

/// The right to use one node of a broker, by a token that was put for it. Decides when one is put:
/// when it is first needed, before the one in force expires, and again after a failure, with
/// growing waits (R17). No I/O, no clock.
class Claim {
public:
    /// A token is being put; what comes of it is told by `granted` or `failed`.
    void asked() noexcept {
        asked_ = true;
        renew_at_ = TimePoint::max();
    }
    [[nodiscard]] bool is_asked() const noexcept { return asked_; }

    /// The broker took a token that lasts for `life`. No life left: the clocks of the two sides
    /// differ, and the broker's is right.
    void granted(TimePoint now, Duration life) noexcept;

    /// The token in force, if any, stays in force.
    void failed(TimePoint now, core::Random& random) noexcept;

    /// The broker refused, or took away, what the token should give: it is of no use any more.
    void doubt() noexcept;

    [[nodiscard]] bool is_valid(TimePoint now) const noexcept { return now < valid_until_; }

    /// Whether a token is to be put although nobody waits for it.
    [[nodiscard]] bool is_due(TimePoint now) const noexcept { return now >= renew_at_; }
    /// When that is; TimePoint::max(): not.
    [[nodiscard]] TimePoint due() const noexcept { return renew_at_; }

private:
    TimePoint valid_until_{TimePoint::min()};
    TimePoint renew_at_{TimePoint::max()};
    std::uint32_t failures_{0};
    bool asked_{false};
};

} // namespace sessionq::servicebus
