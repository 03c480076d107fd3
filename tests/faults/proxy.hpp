#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "faults/script.hpp"

namespace sessionq::faults {

struct ProxySettings {
    std::uint16_t listen_port{0}; ///< on loopback; zero: one that is free
    std::string host{"127.0.0.1"};
    std::uint16_t port{0}; ///< where connections go
    Script script{};
    std::uint64_t seed{1};
};

/// Stands between clients and a broker and does to their connections what a script says. Has a
/// thread of its own. Thread-safe.
class Proxy {
public:
    /// Listens; no fault yet. Throws std::runtime_error.
    explicit Proxy(ProxySettings settings);
    /// Ends all connections.
    ~Proxy();
    Proxy(const Proxy&) = delete;
    Proxy& operator=(const Proxy&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

    /// The script's time begins.
    void start();
    /// No more faults; those in force are over, but what is a black hole stays one.
    void heal();

    /// Faults that hit something.
    [[nodiscard]] std::map<FaultKind, std::uint64_t> counts() const;
    /// When connections came, those that were turned away at the open door among them.
    [[nodiscard]] std::vector<TimePoint> attempts() const;
    /// Those that live.
    [[nodiscard]] std::size_t connections() const;

private:
    class Core;
    std::unique_ptr<Core> core_;
    std::uint16_t port_{0};
};

} // namespace sessionq::faults
