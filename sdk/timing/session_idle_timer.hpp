// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>
#include <optional>

#include <sessionq/time.hpp>

namespace sessionq::timing {

/// Decides when a session is idle: nothing in flight for the whole timeout (R1), counted from
/// arrival, not from the start of a handler (R2).
///
/// It holds no timer. `start` and `end` say when one would have to run out; whoever owns a timer
/// arms it and asks `fire` when it has. An arming is known by its epoch, and only the latest one
/// can fire, so a timer that runs out late or was never cancelled does no harm.
///
/// Thread-safe and lock-free: everything lives in one atomic word. `Atomic` is `std::atomic` but
/// for tests.
template <template <typename> class Atomic>
class BasicSessionIdleTimer {
public:
    /// Ask `fire(epoch)` at `due`; `TimePoint::max()`: never.
    struct Arming {
        TimePoint due;
        std::uint32_t epoch;
    };

    /// `timeout`: zero: idle as soon as nothing is in flight. `Duration::max()`: never. Not
    /// negative.
    explicit BasicSessionIdleTimer(Duration timeout) noexcept : timeout_{timeout} {}

    /// The session was accepted: the clock runs, unless something is in flight already, whose last
    /// `end` then starts it.
    Arming start(TimePoint now) noexcept {
        std::uint64_t seen = word_.load(std::memory_order_relaxed);
        std::uint64_t next = 0;
        do {
            next = (seen & ~unstarted_bit) + one_epoch;
        } while (!word_.compare_exchange_weak(seen, next, std::memory_order_acq_rel,
                                              std::memory_order_relaxed));
        return arming(now, next);
    }

    /// Changes the timeout. The arming of `epoch` stays the same, and is due as the answer says.
    /// Must not run while another call does.
    [[nodiscard]] Arming set_timeout(Duration timeout, TimePoint idle_since,
                                     std::uint32_t epoch) noexcept {
        timeout_ = timeout;
        return arming(idle_since, idle_in(epoch));
    }

    /// Something arrived and is counted until its `end`. False once fired or disposed: then no
    /// handler may start for it. At most 2^29 - 1 at a time.
    [[nodiscard]] bool begin() noexcept {
        std::uint64_t seen = word_.load(std::memory_order_relaxed);
        while (!word_.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel,
                                            std::memory_order_relaxed)) {
        }
        return (seen & ended) == 0;
    }

    /// Something that `begin` counted is finished. The answer is set exactly when it was the last
    /// and the timer has neither fired nor been disposed: the clock restarts.
    [[nodiscard]] std::optional<Arming> end(TimePoint now) noexcept {
        std::uint64_t seen = word_.load(std::memory_order_relaxed);
        std::uint64_t next = 0;
        do {
            assert((seen & in_flight_mask) != 0);
            const bool last = (seen & in_flight_mask) == 1;
            next = last ? seen - 1 + one_epoch : seen - 1;
        } while (!word_.compare_exchange_weak(seen, next, std::memory_order_acq_rel,
                                              std::memory_order_relaxed));
        const bool restarts = (next & (in_flight_mask | unstarted_bit | ended)) == 0;
        return restarts ? std::optional{arming(now, next)} : std::nullopt;
    }

    /// Commits to leaving. True for one call only, and only if the session has been idle ever since
    /// the arming of `epoch`. From then on `begin` answers false.
    [[nodiscard]] bool fire(std::uint32_t epoch) noexcept {
        std::uint64_t idle = idle_in(epoch);
        return word_.compare_exchange_strong(idle, idle | fired_bit, std::memory_order_acq_rel,
                                             std::memory_order_relaxed);
    }

    /// Whether `fire(epoch)` would succeed.
    [[nodiscard]] bool is_idle(std::uint32_t epoch) const noexcept {
        return word_.load(std::memory_order_acquire) == idle_in(epoch);
    }

    /// The session is left for another reason: neither begins nor fires any more. What is in flight
    /// still ends. Idempotent.
    void dispose() noexcept { word_.fetch_or(disposed_bit, std::memory_order_acq_rel); }

    [[nodiscard]] bool disposed() const noexcept {
        return (word_.load(std::memory_order_acquire) & disposed_bit) != 0;
    }
    [[nodiscard]] bool fired() const noexcept {
        return (word_.load(std::memory_order_acquire) & fired_bit) != 0;
    }
    [[nodiscard]] std::uint32_t in_flight() const noexcept {
        return static_cast<std::uint32_t>(word_.load(std::memory_order_acquire) & in_flight_mask);
    }

private:
    // One word: | epoch: 32 | disposed | fired | unstarted | in flight: 29 |. In an idle session
    // all but the epoch is zero.
    static constexpr std::uint64_t in_flight_mask = (std::uint64_t{1} << 29) - 1;
    static constexpr std::uint64_t unstarted_bit = std::uint64_t{1} << 29;
    static constexpr std::uint64_t fired_bit = std::uint64_t{1} << 30;
    static constexpr std::uint64_t disposed_bit = std::uint64_t{1} << 31;
    static constexpr std::uint64_t ended = fired_bit | disposed_bit;
    static constexpr unsigned epoch_shift = 32;
    static constexpr std::uint64_t one_epoch = std::uint64_t{1}
                                               << epoch_shift; // wraps round by itself

    static constexpr std::uint64_t idle_in(std::uint32_t epoch) noexcept {
        return std::uint64_t{epoch} << epoch_shift;
    }

    [[nodiscard]] Arming arming(TimePoint now, std::uint64_t word) const noexcept {
        const bool never =
            timeout_ == Duration::max() || (now > TimePoint{} && timeout_ > TimePoint::max() - now);
        return {.due = never ? TimePoint::max() : now + timeout_,
                .epoch = static_cast<std::uint32_t>(word >> epoch_shift)};
    }

    Duration timeout_;
    Atomic<std::uint64_t> word_{unstarted_bit};
};

using SessionIdleTimer = BasicSessionIdleTimer<std::atomic>;

} // namespace sessionq::timing
