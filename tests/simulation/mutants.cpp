// SPDX-License-Identifier: MIT
#include "simulation/mutants.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string>

#include "simulation/campaign.hpp"

namespace sessionq::simulation {
namespace {

constexpr Mutant seam_mutant(SeamDefect defect, const char* name, const char* scenario) {
    return {name, false, true, scenario, defect};
}

constexpr Mutant mutants[]{
#include "mutant_list.inc"
    seam_mutant(SeamDefect::confirms_lost_send, "confirms_lost_send", "cut_while_sending"),
    seam_mutant(SeamDefect::refuses_taken_send, "refuses_taken_send", "cut_while_sending"),
    seam_mutant(SeamDefect::sends_twice, "sends_twice", "sending"),
    seam_mutant(SeamDefect::loses_of_batch, "loses_of_batch", "sending"),
    seam_mutant(SeamDefect::splits_batch, "splits_batch", "cut_while_sending"),
    seam_mutant(SeamDefect::reverses_batch, "reverses_batch", "sending"),
    seam_mutant(SeamDefect::confirms_lost_state, "confirms_lost_state", "session_state"),
    seam_mutant(SeamDefect::repeats_state_write, "repeats_state_write", "state_and_lost_locks"),
    seam_mutant(SeamDefect::reads_old_state, "reads_old_state", "session_state"),
    seam_mutant(SeamDefect::confirms_before_commit, "confirms_send_before_commit",
                "killed_while_sending"),
    seam_mutant(SeamDefect::confirms_before_commit, "confirms_settlement_before_commit",
                "killed_while_settling"),
    seam_mutant(SeamDefect::forgets_removals, "forgets_removals", "broker_killed"),
    seam_mutant(SeamDefect::forgets_changes, "forgets_changes", "killed_while_settling"),
    seam_mutant(SeamDefect::forgets_states, "forgets_states", "broker_killed"),
    seam_mutant(SeamDefect::forgets_messages, "forgets_messages", "broker_killed"),
    seam_mutant(SeamDefect::cancels_nothing, "cancels_nothing", "scheduling"),
    seam_mutant(SeamDefect::schedules_at_once, "schedules_at_once", "scheduling"),
};

constexpr bool every_seam_defect_is_listed() {
    for (auto value = 1; value < static_cast<int>(SeamDefect::count_); ++value) {
        if (std::none_of(std::begin(mutants), std::end(mutants), [value](const Mutant& each) {
                return each.defect == static_cast<SeamDefect>(value);
            })) {
            return false;
        }
    }
    return true;
}
static_assert(every_seam_defect_is_listed());

bool is_caught(const Mutant& mutant, const MutantHunt& hunt) {
    const Campaign campaign{.seeds = hunt.budget,
                            .scenario = mutant.scenario,
                            .network = hunt.network,
                            .mutant = MutantName{std::string_view{mutant.name}},
                            .defect = mutant.defect,
                            .jobs = hunt.jobs,
                            .until_first = true};
    std::string caught;
    const auto outcome = campaign.run(
        [&](std::uint64_t seed, const std::string& scenario, const Violation& violation) {
            caught = violation.oracle + ", seed " + std::to_string(seed) + " of " + scenario;
        });
    if (outcome.violations == 0) {
        std::printf("%-36s ESCAPED %llu seeds\n", mutant.name,
                    static_cast<unsigned long long>(outcome.run));
    } else {
        std::printf("%-36s caught after %llu seeds: %s\n", mutant.name,
                    static_cast<unsigned long long>(outcome.run), caught.c_str());
    }
    std::fflush(stdout);
    return outcome.violations != 0;
}

} // namespace

const Mutant* find_mutant(std::string_view name) {
    const auto* found = std::find_if(std::begin(mutants), std::end(mutants),
                                     [name](const Mutant& each) { return each.name == name; });
    return found == std::end(mutants) ? nullptr : found;
}

bool catch_mutants(const MutantHunt& hunt) {
    int tried = 0;
    int caught = 0;
    for (const Mutant& each : mutants) {
        const bool chosen = hunt.only.empty() || hunt.only == each.name;
        if (chosen && (hunt.network ? each.seen_by_network : each.seen_by_port)) {
            ++tried;
            caught += is_caught(each, hunt) ? 1 : 0;
        }
    }
    std::printf("%d mutants, %d caught\n", tried, caught);
    return tried > 0 && caught == tried;
}

} // namespace sessionq::simulation
