// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "faults/script.hpp"

namespace sessionq::faults {

struct ProxySettings {
    std::uint16_t listen_port{0}; ///< on loopback; zero: any free port
    std::string host{"127.0.0.1"};
    std::uint16_t port{0}; ///< where to forward connections
    /// Distance: half of it in each direction, for every connection, until a scripted delay.
    Duration round_trip{};
    Script script{};
    std::uint64_t seed{1};
};

/// Stands between clients and a broker and applies a script of faults to their connections. Runs a
/// thread of its own. Thread-safe.
class Proxy {
public:
    /// Listens, without faults yet. Throws std::runtime_error.
    explicit Proxy(ProxySettings settings);
    /// Ends all connections.
    ~Proxy();
    Proxy(const Proxy&) = delete;
    Proxy& operator=(const Proxy&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

    /// Starts the script's clock.
    void start();
    /// Ends all faults except black holes, and starts no new ones.
    void heal();

    /// Faults that hit a connection.
    [[nodiscard]] std::map<FaultKind, std::uint64_t> counts() const;
    /// The times of all connection attempts, rejected ones included.
    [[nodiscard]] std::vector<TimePoint> attempts() const;
    /// The number of living connections.
    [[nodiscard]] std::size_t connections() const;

private:
    class Core;
    std::unique_ptr<Core> core_;
    std::uint16_t port_{0};
};

} // namespace sessionq::faults
