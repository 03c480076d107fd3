// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include <sessionq/time.hpp>

namespace sessionq::client {

/// Asio's reactor with one timer of the operating system. A receive thread sleeps in it. Only that
/// thread may call functions other than `interrupt`.
class Reactor {
public:
    /// The context of the thread's streams. Their handlers run in `poll_one` and `wait`.
    [[nodiscard]] asio::io_context& context() noexcept { return context_; }

    /// Runs one ready handler. False: there was none. Does not wait.
    bool poll_one();

    /// Sleeps until a handler has run, until `until`, or until `interrupt`. May return early.
    void wait(std::optional<TimePoint> until);

    /// Ends the current wait, or the next one. Thread-safe. Allocates nothing.
    void interrupt() noexcept { context_.stop(); }

private:
    void arm(TimePoint until);

    asio::io_context context_{1};
    asio::executor_work_guard<asio::io_context::executor_type> guard_{context_.get_executor()};
    asio::steady_timer timer_{context_};
    std::optional<TimePoint> armed_{};
};

} // namespace sessionq::client
