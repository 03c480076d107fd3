// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>

#include <sessionq/time.hpp>

namespace asio {
class io_context;
}

namespace sessionq::client {

/// Asio's reactor with one timer of the operating system. A receive thread sleeps in it. Only that
/// thread may call functions other than `interrupt`.
class Reactor {
public:
    Reactor();
    ~Reactor();
    Reactor(const Reactor&) = delete;
    Reactor& operator=(const Reactor&) = delete;

    /// The context of the thread's streams. Their handlers run in `poll_one` and `wait`.
    [[nodiscard]] asio::io_context& context() noexcept;

    /// Runs one ready handler. False: there was none. Does not wait.
    bool poll_one();

    /// Sleeps until a handler has run, until `until`, or until `interrupt`. May return early.
    void wait(std::optional<TimePoint> until);

    /// Ends the current wait, or the next one. Thread-safe. Allocates nothing.
    void interrupt() noexcept;

private:
    struct Parts;

    const std::unique_ptr<Parts> parts_; // of Asio, whose headers many sources would read
};

} // namespace sessionq::client
