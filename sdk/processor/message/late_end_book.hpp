// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

namespace sessionq::detail::processor {

/// Decides which of two threads concludes a handler that may end later than its start returns, such
/// as a coroutine. One thread is the worker that starts the handler, and the other thread ends the
/// handler. The thread that comes last concludes the handler. `ShardCall` asks the book.
/// Thread-safe.
class LateEndBook {
public:
    /// The worker is about to start the handler.
    void starts() noexcept { progress_.store(Progress::starting, std::memory_order_relaxed); }
    /// The start has returned. Returns whether the handler had not ended yet. If so, the thread
    /// that ends the handler concludes it, and may have done so by now.
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

} // namespace sessionq::detail::processor
