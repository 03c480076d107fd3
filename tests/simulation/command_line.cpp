// SPDX-License-Identifier: MIT
#include "simulation/command_line.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "simulation/mutants.hpp"
#include "simulation/setup.hpp"

namespace sessionq::simulation {
namespace {

constexpr std::uint64_t mutant_budget = 10'000; // seeds; the first few catch most mutants

std::uint64_t number(std::string_view option, std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) {
        throw UsageError{std::string{option} + ": '" + std::string{text} + "' is not a number"};
    }
    return value;
}

void check(const CommandLine& line) {
    const auto& names = line.network ? network_scenario_names() : scenario_names();
    if (!line.scenario.empty() &&
        std::find(names.begin(), names.end(), line.scenario) == names.end()) {
        throw UsageError{"--scenario: unknown scenario '" + line.scenario + "'"};
    }
    if (line.seeds == 0) {
        throw UsageError{"--seeds: 0 is not 1 or more"};
    }
    if (line.jobs == 0 || line.jobs > 64) {
        throw UsageError{"--jobs: the number is not 1 to 64"};
    }
    if (!line.mutant.empty()) {
        const Mutant* mutant = find_mutant(line.mutant);
        if (mutant == nullptr) {
            throw UsageError{"--mutant: unknown mutant '" + line.mutant + "'"};
        }
        if (!(line.network ? mutant->seen_by_network : mutant->seen_by_port)) {
            throw UsageError{"--mutant: only a simulation " +
                             std::string{line.network ? "without" : "with"} +
                             " --network can catch '" + line.mutant + "'"};
        }
    }
    if (line.trace && !line.replay) {
        throw UsageError{"--trace: requires --replay"};
    }
    if (line.mutants && line.replay) {
        throw UsageError{"--mutants: cannot be combined with --replay"};
    }
}

} // namespace

CommandLine parse(int count, const char* const* arguments) {
    CommandLine line;
    bool seeds_given = false;
    for (int i = 1; i < count; ++i) {
        const std::string_view option = arguments[i];
        const auto value = [&]() -> std::string_view {
            if (i + 1 == count) {
                throw UsageError{std::string{option} + ": the value is missing"};
            }
            return arguments[++i];
        };
        if (option == "--seeds") {
            line.seeds = number(option, value());
            seeds_given = true;
        } else if (option == "--first-seed") {
            line.first_seed = number(option, value());
        } else if (option == "--scenario") {
            line.scenario = value();
        } else if (option == "--replay") {
            line.replay = number(option, value());
        } else if (option == "--jobs") {
            line.jobs =
                static_cast<unsigned>(std::min<std::uint64_t>(number(option, value()), 1000));
        } else if (option == "--trace") {
            line.trace = true;
        } else if (option == "--network") {
            line.network = true;
        } else if (option == "--mutants") {
            line.mutants = true;
        } else if (option == "--mutant") {
            line.mutant = value();
        } else if (option == "--help") {
            line.help = true;
        } else {
            throw UsageError{"unknown option '" + std::string{option} + "'"};
        }
    }
    if (!line.mutant.empty() && !line.replay) {
        line.mutants = true;
    }
    if (line.mutants && !seeds_given) {
        line.seeds = mutant_budget;
    }
    check(line);
    return line;
}

std::string usage() {
    std::string text =
        "usage: simulation [--network] [--seeds N] [--first-seed S] [--scenario NAME] [--jobs N]\n"
        "       simulation [--network] --replay SEED [--scenario NAME] [--trace] [--mutant NAME]\n"
        "       simulation [--network] --mutants | --mutant NAME [--seeds N] [--jobs N]\n"
        "With --network the simulation runs the product's own port, engine, server and broker "
        "over\n"
        "wires that fail. Else a simulated port stands in for them.\n"
        "--mutants runs every deliberate defect until an oracle catches it, --mutant just one.\n"
        "scenarios:";
    for (const std::string& name : scenario_names()) {
        text += " " + name;
    }
    text += "\nwith --network also:";
    for (std::size_t i = 0; i + scenario_names().size() < network_scenario_names().size(); ++i) {
        text += " " + network_scenario_names()[i];
    }
    return text + "\n";
}

} // namespace sessionq::simulation
