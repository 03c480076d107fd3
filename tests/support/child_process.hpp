// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include <sessionq/time.hpp>

namespace sessionq::test {

/// A child process that does not outlive this object.
class ChildProcess {
public:
    /// Starts it and waits for its first line. Throws std::runtime_error, also if it exits without
    /// a line.
    ChildProcess(const std::string& program, const std::vector<std::string>& arguments);
    /// Kills it if it still runs.
    ~ChildProcess();
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    [[nodiscard]] const std::string& first_line() const noexcept { return first_line_; }
    /// -1 once it has ended.
    [[nodiscard]] pid_t id() const noexcept { return id_; }
    void signal(int number) const;
    /// Sends SIGKILL and waits for its end.
    void kill();
    /// Sends SIGTERM. Returns the exit code, or -1 if it died of a signal or had to be killed after
    /// `longest`.
    int end(Duration longest);

private:
    [[nodiscard]] bool reap(bool waits);

    pid_t id_{-1};
    int output_{-1};
    int status_{0};
    std::string first_line_{};
};

} // namespace sessionq::test
