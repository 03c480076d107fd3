// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <memory>
#include <stop_token>

#include <sessionq/operation_context.hpp>

namespace sessionq::inline v1 {

/// The lock of a session, as the contexts of its handlers see it. They may outlive the session.
///
/// Thread-safe.
class LockBound {
public:
    [[nodiscard]] Deadline expires() const noexcept {
        return Deadline::at(expires_.load(std::memory_order_acquire));
    }
    void set_expires(Deadline end) noexcept {
        expires_.store(end.time(), std::memory_order_release);
    }

    [[nodiscard]] std::stop_token stop_token() const noexcept { return stop_.get_token(); }
    /// Runs callbacks of the application.
    void request_stop() noexcept { stop_.request_stop(); }

    /// The context of a handler under `lock`. `deadline` is that of its request.
    [[nodiscard]] static OperationContext context(std::shared_ptr<const LockBound> lock,
                                                  Deadline deadline = {}) {
        OperationContext made{deadline, lock->stop_token()};
        made.lock_ = std::move(lock);
        return made;
    }

private:
    std::stop_source stop_{};
    std::atomic<TimePoint> expires_{};
};

} // namespace sessionq::inline v1
