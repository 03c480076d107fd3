// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include <sessionq/deadline.hpp>
#include <sessionq/time.hpp>

#include "core/result.hpp"
#include "ports/session_link.hpp"

namespace sessionq::ports {

/// The steps that the holder of a lock takes now. If several are set, it takes them in the order of
/// the members.
struct LockActions {
    bool lost{false};  ///< Once: the lock ended, or the broker took it.
    bool warn{false};  ///< Once: the lock is about to end. Nothing more starts.
    bool renew{false}; ///< Ask the broker. Its answer goes to `answered`.
};

/// Decides when a lock is renewed, when its holder is warned, and when the lock is lost (R11-R13).
/// Each session of a processor or a receiver has a keeper, and so has each `MessageLock`. The
/// lock's holder tells the keeper the broker's answers, and calls `look` at `next`.
///
/// The length of a lock counts from the instant of the request, on the monotonic clock. So a slow
/// answer leaves less of the lock, and a step of the wall clock changes nothing.
class LockKeeper {
public:
    /// The holder is warned a tenth of the length before the end, at most this long.
    static constexpr Duration max_margin = std::chrono::seconds{2};
    /// A renewal is due at half of the length, at most this long before the end.
    static constexpr Duration max_renew_ahead = std::chrono::seconds{10};

    enum class Phase : std::uint8_t {
        endless,  ///< The lock does not expire.
        held,     ///< The lock is valid. A renewal will be due.
        renewing, ///< The broker was asked and has not answered.
        warned,   ///< The lock is about to end. It is not renewed any more.
        lost,
    };

    /// The broker granted the lock in its answer to the accept made at `asked`. Nobody knows how
    /// long the accept waited at the broker. If the answer took longer than the margin, the lock
    /// counts from one margin before the answer. Then a renewal is due at once, and measures the
    /// lock.
    void accepted(TimePoint asked, TimePoint answered, LockGrant grant) noexcept;

    /// The broker granted a request made at `asked`.
    void granted(TimePoint asked, LockGrant grant) noexcept;

    /// The broker answered the renewal made at `asked`. The failure `lock_lost` ends the lock.
    /// After another failure, the renewal is tried again soon, unless the lock is about to end.
    [[nodiscard]] LockActions answered(TimePoint asked, TimePoint now,
                                       const core::Result<LockGrant>& answer) noexcept;

    /// The lock may end sooner than granted. A renewal is due at once, unless one is under way.
    void became_uncertain(TimePoint now) noexcept;

    /// Returns the steps that are due at `now`. `may_renew`: false if the holder does not renew the
    /// lock now, for example because its handlers make no progress.
    [[nodiscard]] LockActions look(TimePoint now, bool may_renew) noexcept;

    /// Whether `look` would do nothing at `now`, however the holder answers `may_renew`.
    [[nodiscard]] bool is_quiet(TimePoint now) const noexcept {
        return now < look_at_ && now < renew_at_;
    }

    /// When to look again; TimePoint::max(): never.
    [[nodiscard]] TimePoint next() const noexcept { return look_at_; }

    [[nodiscard]] Deadline expires() const noexcept { return expires_; }

    /// The instant after which no handler may start: the end less the margin.
    [[nodiscard]] TimePoint last_start() const noexcept;

    [[nodiscard]] Phase phase() const noexcept { return phase_; }
    /// Whether a renewal is unanswered and half of its time has passed.
    [[nodiscard]] bool is_late(TimePoint now) const noexcept {
        return phase_ == Phase::renewing &&
               expires_.time() - now < std::min(length_ / 2, max_renew_ahead) / 2;
    }

private:
    [[nodiscard]] static Duration margin(Duration length) noexcept;

    Phase phase_{Phase::endless};
    Deadline expires_{};
    Duration length_{};
    TimePoint renew_at_{TimePoint::max()};
    TimePoint look_at_{TimePoint::max()};
};

} // namespace sessionq::ports
