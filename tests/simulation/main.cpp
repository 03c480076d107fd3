// SPDX-License-Identifier: MIT
#include <cstdio>
#include <cstdlib>
#include <string>

#include <sessionq/logging.hpp>

#include "simulation/campaign.hpp"
#include "simulation/command_line.hpp"
#include "simulation/mutants.hpp"

namespace {

using namespace sessionq;
using namespace sessionq::simulation;

void print(bool network, std::uint64_t seed, const std::string& scenario,
           const Violation& violation) {
    std::printf("violation of %s\n  %s\n  seed %llu, scenario %s; replay: simulation%s --replay "
                "%llu --scenario %s --trace\n",
                violation.oracle.c_str(), violation.text.c_str(),
                static_cast<unsigned long long>(seed), scenario.c_str(),
                network ? " --network" : "", static_cast<unsigned long long>(seed),
                scenario.c_str());
    std::fflush(stdout);
}

int summary(std::uint64_t seeds, std::uint64_t violations) {
    std::printf("%llu seeds, %llu violations\n", static_cast<unsigned long long>(seeds),
                static_cast<unsigned long long>(violations));
    return violations == 0 ? 0 : 1;
}

int replay(const CommandLine& line) {
    const std::string& scenario =
        line.scenario.empty() ? scenario_of(*line.replay, line.network) : line.scenario;
    Trace::Sink sink;
    if (line.trace) {
        sink = [](const std::string& text) { std::printf("%s\n", text.c_str()); };
    }
    RunRequest request{
        .seed = *line.replay, .scenario = scenario, .network = line.network, .trace = sink};
    if (const Mutant* mutant = find_mutant(line.mutant)) {
        request.mutant = MutantName{std::string_view{mutant->name}};
        request.defect = mutant->defect;
    }
    const RunResult result = run_world(request);
    std::printf("scenario %s: %llu steps, %llu handlers, %lld ms of virtual time\n",
                scenario.c_str(), static_cast<unsigned long long>(result.steps),
                static_cast<unsigned long long>(result.handlers),
                static_cast<long long>(result.virtual_time / std::chrono::milliseconds{1}));
    if (result.violation) {
        print(line.network, *line.replay, scenario, *result.violation);
    }
    return summary(1, result.violation ? 1 : 0);
}

int campaign(const CommandLine& line) {
    const Campaign campaign{.first_seed = line.first_seed,
                            .seeds = line.seeds,
                            .scenario = line.scenario,
                            .network = line.network,
                            .jobs = line.jobs};
    const Campaign::Outcome outcome = campaign.run(
        [&](std::uint64_t seed, const std::string& scenario, const Violation& violation) {
            print(line.network, seed, scenario, violation);
        });
    std::printf("%llu steps, %llu handlers\n", static_cast<unsigned long long>(outcome.steps),
                static_cast<unsigned long long>(outcome.handlers));
    return summary(outcome.run, outcome.violations);
}

int act(const CommandLine& line) {
    set_log_level(LogLevel::off);
    if (line.help) {
        std::printf("%s", usage().c_str());
        return 0;
    }
    if (line.mutants) {
        return catch_mutants({.budget = line.seeds,
                              .network = line.network,
                              .jobs = line.jobs,
                              .only = line.mutant})
                   ? 0
                   : 1;
    }
    return line.replay ? replay(line) : campaign(line);
}

} // namespace

int main(int count, char** arguments) {
    int code = 2;
    try {
        code = act(parse(count, arguments));
    } catch (const UsageError& error) {
        std::fprintf(stderr, "simulation: %s\n%s", error.what(), usage().c_str());
    }
    std::fflush(stdout);
    std::_Exit(code); // worlds with a violation are not torn down, so exit handlers must not run
}
