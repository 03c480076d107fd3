// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <sessionq/time.hpp>

namespace sessionq::dispatch {

/// Tracks sleeping workers and wakes as few of them as necessary (DG3, DG4).
///
/// A worker without work announces its sleep, looks for work once more, and then sleeps. Work
/// published before `wake` is therefore either seen by that look, or finds the worker announced. A
/// woken worker counts as *coming* until it looks for work. The work that it will find wakes no
/// other worker. Thread-safe, lock-free.
template <typename Sync>
class BasicSleepers {
public:
    /// Announces that the caller is about to sleep. The caller then looks for work, and calls
    /// `sleep` or `cancel`.
    void announce() noexcept { state_.fetch_add(one_asleep, std::memory_order_acq_rel); }

    /// Withdraws the announcement: the caller found work. If a wake-up is on its way already, the
    /// caller takes it.
    void cancel() noexcept { static_cast<void>(withdraw()); }

    /// Sleeps until woken. The caller then looks for work.
    void sleep() noexcept {
        semaphore_.acquire();
        state_.fetch_sub(one_coming, std::memory_order_acq_rel);
    }

    /// The same, but no longer than `longest`. False: nobody woke the caller for so long.
    [[nodiscard]] bool sleep_within(Duration longest) noexcept {
        if (semaphore_.acquire_within(longest)) {
            state_.fetch_sub(one_coming, std::memory_order_acq_rel);
            return true;
        }
        return !withdraw();
    }

    /// Wakes enough workers for `work`, less those that are coming already. No system call if that
    /// is none.
    void wake(std::size_t work) noexcept {
        std::uint64_t state = state_.load(std::memory_order_acquire);
        std::uint64_t woken = 0;
        do {
            if (asleep(state) == 0) {
                return;
            }
            woken = work > coming(state)
                        ? std::min<std::uint64_t>(work - coming(state), asleep(state))
                        : 0;
            // Write the state even if nothing changes: a coming worker must see all that was
            // published before.
        } while (!state_.compare_exchange_weak(state, state + woken * (one_coming - one_asleep),
                                               std::memory_order_acq_rel,
                                               std::memory_order_acquire));
        for (; woken > 0; --woken) {
            semaphore_.release();
        }
    }

    /// Wakes every worker that has announced its sleep. A worker that announces later sees
    /// everything written before this call.
    void wake_all() noexcept {
        announce();
        wake(~std::uint32_t{0});
        sleep();
    }

    [[nodiscard]] std::size_t asleep() const noexcept {
        return asleep(state_.load(std::memory_order_relaxed));
    }

private:
    static constexpr std::uint64_t one_asleep = 1;
    static constexpr std::uint64_t one_coming = std::uint64_t{1} << 32;

    /// False: a wake-up was on its way, and the caller has taken it.
    bool withdraw() noexcept {
        std::uint64_t state = state_.load(std::memory_order_relaxed);
        while (asleep(state) > 0) {
            if (state_.compare_exchange_weak(state, state - one_asleep, std::memory_order_acq_rel,
                                             std::memory_order_relaxed)) {
                return true;
            }
        }
        sleep();
        return false;
    }

    static constexpr std::uint64_t asleep(std::uint64_t state) noexcept {
        return state & (one_coming - 1);
    }
    static constexpr std::uint64_t coming(std::uint64_t state) noexcept { return state >> 32; }

    // The low half counts workers that sleep and were not woken. The high half counts workers that
    // were woken and have not looked for work yet.
    typename Sync::template Atomic<std::uint64_t> state_{0};
    typename Sync::Semaphore semaphore_;
};

} // namespace sessionq::dispatch
