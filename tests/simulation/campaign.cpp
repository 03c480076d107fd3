// SPDX-License-Identifier: MIT
#include "simulation/campaign.hpp"

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace sessionq::simulation {

Campaign::Outcome Campaign::run(const Found& found) const {
    std::atomic<std::uint64_t> next{0};
    std::atomic<bool> enough{false};
    std::mutex mutex;
    Outcome outcome;
    const auto work = [&] {
        while (!enough) {
            const std::uint64_t index = next++;
            if (index >= seeds) {
                return;
            }
            const std::uint64_t seed = first_seed + index;
            const std::string& name = scenario.empty() ? scenario_of(seed, network) : scenario;
            const RunResult result = run_world({.seed = seed,
                                                .scenario = name,
                                                .network = network,
                                                .mutant = mutant,
                                                .defect = defect});
            const std::lock_guard lock{mutex};
            ++outcome.run;
            outcome.steps += result.steps;
            outcome.handlers += result.handlers;
            if (result.violation) {
                ++outcome.violations;
                enough = until_first;
                found(seed, name, *result.violation);
            }
        }
    };
    std::vector<std::thread> threads;
    for (unsigned i = 1; i < jobs; ++i) {
        threads.emplace_back(work);
    }
    work();
    for (std::thread& thread : threads) {
        thread.join();
    }
    return outcome;
}

} // namespace sessionq::simulation
