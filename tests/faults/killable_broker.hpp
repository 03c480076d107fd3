// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/daemon_process.hpp"

namespace sessionq::faults {

/// A sessionqd that can be killed and restarted on the same port.
class KillableBroker {
public:
    /// `arguments` contain no address to listen on. Does not start the broker.
    KillableBroker(std::string program, std::vector<std::string> arguments)
        : program_{std::move(program)}, arguments_{std::move(arguments)} {}

    /// Throws std::runtime_error if it does not start.
    void start();
    void kill() { daemon_->process().kill(); }
    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    /// After the first start.
    [[nodiscard]] test::ChildProcess& process() noexcept { return daemon_->process(); }

private:
    const std::string program_;
    const std::vector<std::string> arguments_;
    std::uint16_t port_{0};
    std::unique_ptr<test::DaemonProcess> daemon_{};
};

} // namespace sessionq::faults
