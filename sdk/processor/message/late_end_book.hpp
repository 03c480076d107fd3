// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

namespace sessionq::processor {

/// Decides which of two threads concludes a handler that may finish later: the worker that started
/// it or the thread that ends it, whichever is last. Thread-safe.
class LateEndBook {
public:
    /// On the worker, before the start.
    void starts() noexcept { progress_.store(Progress::starting, std::memory_order_relaxed); }
    /// The start has returned. True: the handler has not ended, and the thread that ends it
    /// concludes. It may have done that by now.
    [[nodiscard]] bool waits() noexcept {
        Progress expected = Progress::starting;
        return progress_.compare_exchange_strong(expected, Progress::waiting,
                                                 std::memory_order_acq_rel);
    }
    /// The handler has ended. True: its start has returned, so the caller concludes.
    [[nodiscard]] bool ends() noexcept {
        return progress_.exchange(Progress::ended, std::memory_order_acq_rel) != Progress::starting;
    }

private:
    enum class Progress : std::uint8_t { starting, waiting, ended };

    std::atomic<Progress> progress_{Progress::starting};
};

} // namespace sessionq::processor
