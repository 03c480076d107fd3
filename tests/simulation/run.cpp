// SPDX-License-Identifier: MIT
#include "simulation/run.hpp"

#include "simulation/network_stage.hpp"
#include "simulation/port_stage.hpp"
#include "simulation/world.hpp"

namespace sessionq::simulation {

const std::string& scenario_of(std::uint64_t seed, bool network) {
    const auto& names = network ? network_scenario_names() : scenario_names();
    return names[seed % names.size()];
}

namespace {

std::unique_ptr<World> make_world(const RunRequest& request) {
    core::Random choices{request.seed * 2 + 1};
    if (request.network) {
        Setup setup = make_network_setup(request.scenario, choices);
        setup.defect = request.defect;
        return std::make_unique<World>(
            std::make_unique<NetworkStage>(request.seed, Trace{request.trace}, setup), setup);
    }
    const Setup setup = make_setup(request.scenario, choices);
    return std::make_unique<World>(
        std::make_unique<PortStage>(request.seed, Trace{request.trace}, setup), setup);
}

} // namespace

RunResult run_world(const RunRequest& request) {
    current_mutant = request.mutant;
    auto world = make_world(request);
    RunResult result = world->run();
    if (result.violation) {
        static_cast<void>(world.release());
    } else {
        world.reset();
    }
    current_mutant = MutantName{};
    return result;
}

} // namespace sessionq::simulation
