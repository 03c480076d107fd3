#pragma once

#include <memory>
#include <vector>

#include "simulation/environment.hpp"
#include "simulation/setup.hpp"
#include "simulation/sim_endpoint.hpp"

namespace sessionq::simulation {

/// A world without its consumer: the broker, the wires, the receive loops, the senders, and whoever makes trouble.
class Stage {
public:
    Stage(std::uint64_t seed, Trace trace, const Setup& setup);

    [[nodiscard]] Environment& environment() noexcept { return environment_; }
    [[nodiscard]] Scheduler& scheduler() noexcept { return environment_.scheduler; }
    [[nodiscard]] SimServer& server() noexcept { return server_; }
    [[nodiscard]] std::vector<std::unique_ptr<SimLoop>>& loops() noexcept { return loops_; }
    [[nodiscard]] std::vector<std::unique_ptr<SimEndpoint>>& endpoints() noexcept { return endpoints_; }
    [[nodiscard]] const std::vector<std::string>& entities() const noexcept { return entities_; }

    /// Senders and trouble begin.
    void open();
    /// Nothing goes wrong from now on, and what went wrong is mended; no further message is sent by itself.
    void calm_down();

    /// Steps until `done`, until nobody can act, until `end`, or until an oracle has found something. True: `done`.
    bool run(TimePoint end, const std::function<bool()>& done);

    /// Takes a message that arrives at the consumer in the very tick `when`, if that can be.
    void send_for(const LinkRecord& link, TimePoint when);

private:
    void send_all();
    void repeat(Duration mean, std::function<void()> what);
    void make_trouble();
    void hold_foreign();

    Setup setup_;
    Environment environment_;
    std::vector<std::string> entities_;
    std::vector<std::unique_ptr<SimLoop>> loops_;
    SimServer server_;
    std::vector<std::unique_ptr<SimEndpoint>> endpoints_;
    bool troubled_{true};
};

} // namespace sessionq::simulation
