#pragma once

#include <optional>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include <sessionq/time.hpp>

namespace sessionq::client {

/// Where a receive thread sleeps: Asio's reactor with one timer of the operating system. All but
/// `interrupt` is for the thread that waits.
class Reactor {
public:
    /// Sockets and streams of the thread live here; their handlers run inside `poll_one` and
    /// `wait`.
    [[nodiscard]] asio::io_context& context() noexcept { return context_; }

    /// Runs one handler that is ready; false when there was none. Does not wait.
    bool poll_one();

    /// Sleeps until a handler was ready and has run, `until` is reached, or `interrupt` is called.
    /// May return early.
    void wait(std::optional<TimePoint> until);

    /// Ends the current wait, or else the next one, at once. Thread-safe, allocates nothing.
    void interrupt() noexcept { context_.stop(); }

private:
    void arm(TimePoint until);

    asio::io_context context_{1};
    asio::executor_work_guard<asio::io_context::executor_type> guard_{context_.get_executor()};
    asio::steady_timer timer_{context_};
    std::optional<TimePoint> armed_{};
};

} // namespace sessionq::client
