// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "support/child_process.hpp"

namespace sessionq::test {

/// A sessionqd that does not outlive this object.
class DaemonProcess {
public:
    /// `arguments` give the address to listen on: on loopback, where port 0 is any free port.
    /// Throws std::runtime_error if it does not start.
    DaemonProcess(const std::string& program, const std::vector<std::string>& arguments);

    [[nodiscard]] ChildProcess& process() noexcept { return process_; }
    [[nodiscard]] pid_t id() const noexcept { return process_.id(); }
    /// The first port that it printed.
    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    /// With the default key, without TLS.
    [[nodiscard]] std::string connection_string() const;
    /// From its start to the line with its address.
    [[nodiscard]] double start_seconds() const noexcept { return start_.count(); }

private:
    const std::chrono::steady_clock::time_point begun_; // before the process
    ChildProcess process_;
    const std::chrono::duration<double> start_;
    std::uint16_t port_{0};
};

} // namespace sessionq::test
