#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "support/child_process.hpp"

namespace sessionq::test {

/// A sessionqd that runs beside this program, and not longer.
class DaemonProcess {
public:
    /// `arguments` say where it listens: on loopback, port 0 is any that is free. Throws
    /// std::runtime_error if it does not start.
    DaemonProcess(const std::string& program, const std::vector<std::string>& arguments);

    [[nodiscard]] ChildProcess& process() noexcept { return process_; }
    [[nodiscard]] pid_t id() const noexcept { return process_.id(); }
    /// The first one of its line.
    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    /// With the key that it has unless told otherwise; without TLS.
    [[nodiscard]] std::string connection_string() const;
    /// From its start to the line that says that it listens.
    [[nodiscard]] double start_seconds() const noexcept { return start_.count(); }

private:
    const std::chrono::steady_clock::time_point begun_; // before the process
    ChildProcess process_;
    const std::chrono::duration<double> start_;
    std::uint16_t port_{0};
};

} // namespace sessionq::test
