#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include <sessionq/deadline.hpp>
#include <sessionq/time.hpp>

namespace sessionq::processor {

/// Decides when a lease is renewed, when its holder is warned and when it is over (R11-R13).
/// Monotonic: the length counts from the instant it was asked for, so a slow answer shortens it and
/// a wall clock changes nothing.
class Lease {
public:
    /// How long before the end the holder is told, at most; a tenth of a short lease.
    static constexpr Duration max_margin = std::chrono::seconds{2};
    /// How long before the end a renewal is due, at most; half of a short lease.
    static constexpr Duration max_renew_ahead = std::chrono::seconds{10};

    enum class Step : std::uint8_t {
        wait,   ///< nothing until `at`
        renew,  ///< ask the broker now; tell `renewal_asked`
        warn,   ///< the stop token fires now, nothing more starts
        expire, ///< it is over
    };

    struct Next {
        Step step{Step::wait};
        TimePoint at{TimePoint::max()}; ///< with `wait`: when to ask again
    };

    /// The broker granted `length` to a request made at `asked`. Unset: it does not expire.
    void grant(TimePoint asked, std::optional<Duration> length) noexcept;

    /// The broker granted `length` with its answer to an accept asked at `asked`. How long the
    /// accept waited at the broker is unknown, so an answer that took longer than the margin is
    /// taken to have travelled for the margin, and the lease is renewed at once, which measures it
    /// (R12).
    void grant_by_accept(TimePoint asked, TimePoint answered,
                         std::optional<Duration> length) noexcept;

    /// What is due at `now`. `renew_wanted` is false once the session is being left or its handlers
    /// make no progress.
    [[nodiscard]] Next next(TimePoint now, bool renew_wanted) noexcept;

    void renewal_asked() noexcept { renewing_ = true; }

    /// It may end sooner than was granted: it is renewed at once, unless that is under way.
    void doubt(TimePoint now) noexcept { renew_at_ = std::min(renew_at_, now); }

    /// It was refused for now or went unanswered; tries again soon.
    void renewal_failed(TimePoint now) noexcept;

    [[nodiscard]] Deadline expires() const noexcept { return expires_; }

    /// The instant after which no handler may start: the end less the margin.
    [[nodiscard]] TimePoint last_start() const noexcept;

    [[nodiscard]] bool warned() const noexcept { return warned_; }
    [[nodiscard]] bool renewing() const noexcept { return renewing_; }

private:
    [[nodiscard]] static Duration margin(Duration length) noexcept;

    Deadline expires_{};
    Duration length_{};
    TimePoint renew_at_{TimePoint::max()};
    bool renewing_{false};
    bool warned_{false};
};

} // namespace sessionq::processor
