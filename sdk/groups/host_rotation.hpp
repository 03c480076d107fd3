#pragma once

#include <cstddef>
#include <cstdint>

#include <sessionq/backoff_options.hpp>

#include "core/random.hpp"

namespace sessionq::groups {

/// Decides which of several hosts is tried next and when: in order, from the first again after a
/// loss, with growing waits between rounds that brought nothing (R17).
class HostRotation {
public:
    HostRotation(std::size_t hosts, BackoffOptions backoff, std::uint64_t seed) noexcept
        : hosts_{hosts}, backoff_{backoff}, random_{seed} {}

    /// Which host to try, from `not_before` on.
    [[nodiscard]] std::size_t host() const noexcept { return next_; }
    [[nodiscard]] TimePoint not_before() const noexcept { return not_before_; }

    /// The host did not let us in. True: that was the last of a round.
    bool failed(TimePoint now) noexcept {
        next_ = (next_ + 1) % hosts_;
        if (next_ != 0) {
            return false;
        }
        wait(now);
        return true;
    }
    void connected(TimePoint now) noexcept { connected_at_ = now; }
    /// A connection that was made is gone. One that did not last counts as a round that brought
    /// nothing.
    void lost(TimePoint now) noexcept {
        next_ = 0;
        if (now - connected_at_ >= backoff_.min * 10) {
            rounds_ = 0;
            not_before_ = now;
        } else {
            wait(now);
        }
    }

private:
    void wait(TimePoint now) noexcept {
        Duration full = backoff_.min;
        for (std::uint32_t i = 0; i < rounds_ && full < backoff_.max; ++i) {
            full = full > backoff_.max / 2 ? backoff_.max : full * 2;
        }
        ++rounds_;
        const Duration half = full / 2;
        not_before_ = now + half +
                      Duration{static_cast<Duration::rep>(
                          random_.fraction() * static_cast<double>((full - half).count()))};
    }

    std::size_t hosts_;
    BackoffOptions backoff_;
    core::Random random_;
    std::size_t next_{0};
    std::uint32_t rounds_{0};
    TimePoint connected_at_{};
    TimePoint not_before_{};
};

} // namespace sessionq::groups
