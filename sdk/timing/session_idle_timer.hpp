// SPDX-License-Identifier: MIT
#pragma once

#include <cassert>
#include <cstdint>

#include <sessionq/time.hpp>

namespace sessionq::timing {

/// Says when a session is idle: nothing has been in flight for the whole timeout (R1). A message is
/// in flight from its arrival until its end, so a handler may take as long as it likes (R2). Each
/// session that is held has one, to which `SessionMachine` tells arrivals and ends.
///
/// It is a count and an instant, and holds no timer. `due_at` says when to call `run_out`. Then the
/// session asks the broker whether there is more, and `fire` commits to leaving it, unless
/// something has arrived meanwhile.
///
/// Other clients have a timer that threads start, cancel and start again. There the end of one
/// message may start it while the next one arrives, and one that is cancelled too late closes the
/// session under a handler. Here both cannot happen: a session's inputs come one after another on
/// its receive thread, and nothing has to be cancelled, because `fire` looks at all that has
/// happened until then.
///
/// Not thread-safe.
class SessionIdleTimer {
public:
    /// `timeout`: zero: idle as soon as nothing is in flight. `Duration::max()`: never. Not
    /// negative.
    explicit SessionIdleTimer(Duration timeout) noexcept { set_timeout(timeout); }

    /// The session was accepted. The timer runs as soon as nothing is in flight. No effect a second
    /// time, or once the session is left.
    void start(TimePoint now) noexcept {
        if (phase_ == Phase::unstarted) {
            idle_since_ = now;
            phase_ = in_flight_ == 0 ? Phase::running : Phase::stopped;
        }
    }

    /// Something arrived, and is in flight until its `end`.
    void begin() noexcept {
        ++in_flight_;
        if (runs() || phase_ == Phase::run_out) {
            phase_ = Phase::stopped;
        }
    }
    void end(TimePoint now) noexcept {
        assert(in_flight_ != 0);
        if (--in_flight_ == 0 && phase_ == Phase::stopped) {
            phase_ = Phase::running;
            idle_since_ = now;
        }
    }

    /// Counts from when the session became idle.
    void set_timeout(Duration timeout) noexcept {
        timeout_ = timeout;
        rolls_at_once_ = timeout == Duration::zero();
    }
    [[nodiscard]] Duration timeout() const noexcept { return timeout_; }
    /// From now on the session is idle as soon as nothing is in flight.
    void roll_at_once() noexcept { rolls_at_once_ = true; }

    /// When `run_out` is to be called; max: not as things are. Where there is nothing to wait for
    /// that is long past, because `now` would be rounded up (R4).
    [[nodiscard]] TimePoint due_at() const noexcept {
        if (!runs()) {
            return TimePoint::max();
        }
        if (rolls_at_once_) {
            return {};
        }
        const bool never = timeout_ == Duration::max() ||
                           (idle_since_ > TimePoint{} && timeout_ > TimePoint::max() - idle_since_);
        return never ? TimePoint::max() : idle_since_ + timeout_;
    }
    /// The timeout is over.
    void run_out() noexcept {
        if (runs()) {
            phase_ = Phase::run_out;
        }
    }

    /// Commits to leaving the session. Returns false if something has arrived since `run_out`, even
    /// if it has ended.
    [[nodiscard]] bool fire() noexcept {
        if (phase_ != Phase::run_out) {
            return false;
        }
        phase_ = Phase::over;
        return true;
    }
    /// The session is left for another reason. Messages in flight still end.
    void dispose() noexcept { phase_ = Phase::over; }

    /// Nothing is in flight, and the timeout is not over.
    [[nodiscard]] bool runs() const noexcept { return phase_ == Phase::running; }
    [[nodiscard]] std::uint32_t in_flight() const noexcept { return in_flight_; }

private:
    enum class Phase : std::uint8_t {
        unstarted, ///< before the accept
        running,
        stopped, ///< something is in flight
        run_out,
        over,
    };

    Duration timeout_{};
    TimePoint idle_since_{};
    std::uint32_t in_flight_{0};
    Phase phase_{Phase::unstarted};
    bool rolls_at_once_{false};
};

} // namespace sessionq::timing
