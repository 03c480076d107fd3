#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/daemon_process.hpp"

namespace sessionq::faults {

/// A sessionqd that is killed and started anew on the port it had.
class KillableBroker {
public:
    /// `arguments` do not say where it listens. Starts nothing yet.
    KillableBroker(std::string program, std::vector<std::string> arguments)
        : program_{std::move(program)}, arguments_{std::move(arguments)} {}

    /// Throws std::runtime_error if it does not start.
    void start();
    void kill() { daemon_->process().kill(); }
    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    /// Once it was started.
    [[nodiscard]] test::ChildProcess& process() noexcept { return daemon_->process(); }

private:
    const std::string program_;
    const std::vector<std::string> arguments_;
    std::uint16_t port_{0};
    std::unique_ptr<test::DaemonProcess> daemon_{};
};

} // namespace sessionq::faults
