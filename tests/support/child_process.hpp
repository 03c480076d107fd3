#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include <sessionq/time.hpp>

namespace sessionq::test {

/// A program that runs beside this one, and not longer.
class ChildProcess {
public:
    /// Starts it and waits for its first line. Throws std::runtime_error (also: it ended without
    /// one).
    ChildProcess(const std::string& program, const std::vector<std::string>& arguments);
    /// Kills it if need be.
    ~ChildProcess();
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    [[nodiscard]] const std::string& first_line() const noexcept { return first_line_; }
    /// -1 once it is gone.
    [[nodiscard]] pid_t id() const noexcept { return id_; }
    void signal(int number) const;
    /// SIGKILL, and waits until it is gone.
    void kill();
    /// SIGTERM. Its exit code; -1: it had to be killed after `longest`, or died of a signal.
    int end(Duration longest);

private:
    [[nodiscard]] bool reap(bool waits);

    pid_t id_{-1};
    int output_{-1};
    int status_{0};
    std::string first_line_{};
};

} // namespace sessionq::test
