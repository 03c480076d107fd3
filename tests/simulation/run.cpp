#include "simulation/run.hpp"

#include "simulation/world.hpp"

namespace sessionq::simulation {

const std::string& scenario_of(std::uint64_t seed) { return scenario_names()[seed % scenario_names().size()]; }

RunResult run_world(const RunRequest& request) {
    core::Random choices{request.seed * 2 + 1};
    processor::current_mutant = request.mutant;
    auto world = std::make_unique<World>(request, make_setup(request.scenario, choices));
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
