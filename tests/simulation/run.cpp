#include "simulation/run.hpp"

#include "simulation/port_stage.hpp"
#include "simulation/world.hpp"

namespace sessionq::simulation {

const std::string& scenario_of(std::uint64_t seed) { return scenario_names()[seed % scenario_names().size()]; }

RunResult run_world(const RunRequest& request) {
    core::Random choices{request.seed * 2 + 1};
    processor::current_mutant = request.mutant;
    const Setup setup = make_setup(request.scenario, choices);
    auto world = std::make_unique<World>(std::make_unique<PortStage>(request.seed, Trace{request.trace}, setup), setup);
    RunResult result = world->run();
    if (result.violation) {
        static_cast<void>(world.release());
    } else {
        world.reset();
    }
    processor::current_mutant = processor::Mutant::none;
    return result;
}

} // namespace sessionq::simulation
