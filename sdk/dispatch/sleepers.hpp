#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace sessionq::dispatch {

/// Workers that sleep and how few of them to wake (source document 004, DG3 and DG4).
///
/// A worker without work announces its sleep, looks once more, and sleeps; so work that was
/// published before `wake` is either seen by that look or finds the worker announced. A woken
/// worker counts as *coming* until it looks: work it will find wakes nobody else. Thread-safe,
/// lock-free.
template <typename Sync>
class BasicSleepers {
public:
    /// The caller is about to sleep. It looks for work after this, and then calls `sleep` or
    /// `stay`.
    void announce() noexcept { state_.fetch_add(one_asleep, std::memory_order_acq_rel); }

    /// It found work after all. If somebody is waking it already, it takes that wake-up.
    void stay() noexcept {
        std::uint64_t state = state_.load(std::memory_order_relaxed);
        while (asleep(state) > 0) {
            if (state_.compare_exchange_weak(state, state - one_asleep, std::memory_order_acq_rel,
                                             std::memory_order_relaxed)) {
                return;
            }
        }
        sleep();
    }

    /// Sleeps until woken. The caller then looks for work.
    void sleep() noexcept {
        semaphore_.acquire();
        state_.fetch_sub(one_coming, std::memory_order_acq_rel);
    }

    /// Wakes as many as `work` asks for beyond those that are coming. No system call when that is
    /// none.
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
            // Also when it changes nothing: a worker that is relied on as coming must see what was published before.
        } while (!state_.compare_exchange_weak(state, state + woken * (one_coming - one_asleep),
                                               std::memory_order_acq_rel,
                                               std::memory_order_acquire));
        for (; woken > 0; --woken) {
            semaphore_.release();
        }
    }

    /// Wakes everybody who has announced; whoever announces later finds what was written before
    /// this call.
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

    static constexpr std::uint64_t asleep(std::uint64_t state) noexcept {
        return state & (one_coming - 1);
    }
    static constexpr std::uint64_t coming(std::uint64_t state) noexcept { return state >> 32; }

    typename Sync::template Atomic<std::uint64_t> state_{
        0}; // announced and not woken; above them, woken and not yet looking
    typename Sync::Semaphore semaphore_;
};

} // namespace sessionq::dispatch
