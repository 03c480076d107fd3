#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "amqp/dial.hpp"
#include "simulation/wire.hpp"

namespace sessionq::simulation {

/// All wires there are, and what goes wrong with them.
class Network {
public:
    /// Where a wire leads: the loop of what listens there, and how it is handed a stream on that
    /// loop. Null: nobody listens now.
    struct Listener {
        core::EventLoop* loop;
        std::function<void(amqp::StreamPtr)> serve;
    };

    Network(Environment& environment, const NetworkFaults& faults)
        : environment_{&environment}, faults_{faults} {}

    /// Told when the broker's end of a wire is over.
    std::function<void(std::uint32_t wire)> server_over;
    /// Who serves the next wire.
    std::function<Listener()> listen;

    /// How an endpoint gets its streams.
    [[nodiscard]] amqp::Dial dial_for(std::size_t endpoint);

    /// The wire an endpoint got last; zero: none yet.
    [[nodiscard]] std::uint32_t newest_of(std::size_t endpoint) const noexcept;

    void cut_one();
    /// Whoever listens has died, with the machine or without it: what it had written may still
    /// arrive, or not; its clients learn of it at once, late, or never.
    void server_dies();
    void stall_one();
    /// From now on nothing goes wrong.
    void mend();

    [[nodiscard]] NetworkFaults& faults() noexcept { return faults_; }

private:
    class Attempt;

    void connect(const std::shared_ptr<Attempt>& attempt);
    [[nodiscard]] std::shared_ptr<Wire> some_wire();

    Environment* environment_;
    NetworkFaults faults_;
    std::vector<std::weak_ptr<Wire>> wires_{};
    std::vector<std::uint32_t> newest_{}; // by endpoint
    std::uint32_t last_wire_{0};
    TimePoint down_until_{};
};

} // namespace sessionq::simulation
