// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

namespace sessionq::processor {

/// Decides which thread concludes a handler that may finish later, such as a coroutine: the worker
/// that started it, or the thread that ends it. The later of the two concludes. `MessageCall` and
/// `BatchCall` ask it. Thread-safe.
class LateEndBook {
public:
    /// The worker is about to start the handler.
    void starts() noexcept { progress_.store(Progress::starting, std::memory_order_relaxed); }
    /// The start has returned. True: the handler has not ended. The thread that ends it concludes,
    /// and may have done so by now.
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
