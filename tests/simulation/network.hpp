// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "amqp/dial.hpp"
#include "simulation/wire.hpp"

namespace sessionq::simulation {

/// All wires, and their faults.
class Network {
public:
    /// What is at the far end of a new wire. `loop` is null if nobody listens; else `serve` takes
    /// a stream on that loop.
    struct Listener {
        core::EventLoop* loop;
        std::function<void(amqp::StreamPtr)> serve;
    };

    Network(Environment& environment, const NetworkFaults& faults)
        : environment_{&environment}, faults_{faults} {}

    /// Called when the broker is done with its end of a wire.
    std::function<void(std::uint32_t wire)> server_over;
    /// Returns who serves the next wire.
    std::function<Listener()> listen;

    /// Makes the streams of an endpoint.
    [[nodiscard]] amqp::Dial dial_for(std::size_t endpoint);

    /// The wire that brought the endpoint its last bytes; zero if none did.
    [[nodiscard]] std::uint32_t last_heard(std::size_t endpoint) const noexcept;

    void cut_one();
    /// The listener has died, with or without its machine. What it wrote may still arrive or not.
    /// Its clients learn of it at once, late, or never.
    void server_dies();
    /// An endpoint's process is killed. What it wrote still arrives or not. The listener learns of
    /// it at once, late or never.
    void client_dies(std::size_t endpoint);
    void stall_one();
    /// Ends all faults.
    void mend();

    [[nodiscard]] NetworkFaults& faults() noexcept { return faults_; }

private:
    class Attempt;

    void connect(const std::shared_ptr<Attempt>& attempt);
    [[nodiscard]] std::shared_ptr<Wire> some_wire();

    Environment* environment_;
    NetworkFaults faults_;
    std::vector<std::weak_ptr<Wire>> wires_{};
    std::vector<std::uint32_t> heard_{}; // by endpoint
    std::uint32_t last_wire_{0};
    TimePoint down_until_{};
};

} // namespace sessionq::simulation
