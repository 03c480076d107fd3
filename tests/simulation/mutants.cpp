#include "simulation/mutants.hpp"

#include <array>
#include <cstdio>
#include <span>
#include <string>

#include "simulation/campaign.hpp"

namespace sessionq::simulation {
namespace {

using processor::Mutant;

const char* name_of(Mutant mutant) {
    switch (mutant) {
    case Mutant::idle_fires_while_handler_runs: return "idle_fires_while_handler_runs";
    case Mutant::disarmed_only_at_handler_start: return "disarmed_only_at_handler_start";
    case Mutant::idle_ignores_pending_settlement: return "idle_ignores_pending_settlement";
    case Mutant::settles_twice: return "settles_twice";
    case Mutant::completes_before_handler: return "completes_before_handler";
    case Mutant::completes_after_failure: return "completes_after_failure";
    case Mutant::overtakes_after_abandon: return "overtakes_after_abandon";
    case Mutant::starts_next_before_settled: return "starts_next_before_settled";
    case Mutant::leaves_without_drain: return "leaves_without_drain";
    case Mutant::ignores_message_during_drain: return "ignores_message_during_drain";
    case Mutant::accepts_beyond_limit: return "accepts_beyond_limit";
    case Mutant::renews_on_worker: return "renews_on_worker";
    case Mutant::never_renews: return "never_renews";
    case Mutant::warns_after_expiry: return "warns_after_expiry";
    case Mutant::starts_after_lock_lost: return "starts_after_lock_lost";
    case Mutant::settles_after_lock_lost: return "settles_after_lock_lost";
    case Mutant::loses_late_accept: return "loses_late_accept";
    case Mutant::never_backs_off: return "never_backs_off";
    case Mutant::forgets_lane: return "forgets_lane";
    case Mutant::forgets_slot: return "forgets_slot";
    case Mutant::credits_beyond_budget: return "credits_beyond_budget";
    case Mutant::stop_ignores_deadline: return "stop_ignores_deadline";
    case Mutant::keeps_unstarted_on_stop: return "keeps_unstarted_on_stop";
    case Mutant::ignores_shorter_stop: return "ignores_shorter_stop";
    case Mutant::none:
    case Mutant::count_: break;
    }
    return "none";
}

/// Where a defect is met most often, and its name.
struct SeamMutant {
    SeamDefect defect;
    const char* name;
    const char* scenario;
};

constexpr std::array seam_mutants{
    SeamMutant{SeamDefect::confirms_lost_send, "confirms_lost_send", "cut_while_sending"},
    SeamMutant{SeamDefect::refuses_taken_send, "refuses_taken_send", "cut_while_sending"},
    SeamMutant{SeamDefect::sends_twice, "sends_twice", "sending"},
    SeamMutant{SeamDefect::loses_of_batch, "loses_of_batch", "sending"},
    SeamMutant{SeamDefect::splits_batch, "splits_batch", "cut_while_sending"},
    SeamMutant{SeamDefect::reverses_batch, "reverses_batch", "sending"},
    SeamMutant{SeamDefect::confirms_lost_state, "confirms_lost_state", "session_state"},
    SeamMutant{SeamDefect::repeats_state_write, "repeats_state_write", "state_and_lost_locks"},
    SeamMutant{SeamDefect::reads_old_state, "reads_old_state", "session_state"},
    SeamMutant{SeamDefect::confirms_before_commit, "confirms_before_commit",
               "killed_while_sending"},
    SeamMutant{SeamDefect::confirms_before_commit, "confirms_before_commit (settling)",
               "killed_while_settling"},
    SeamMutant{SeamDefect::forgets_removals, "forgets_removals", "broker_killed"},
    SeamMutant{SeamDefect::forgets_changes, "forgets_changes", "killed_while_settling"},
    SeamMutant{SeamDefect::forgets_states, "forgets_states", "broker_killed"},
    SeamMutant{SeamDefect::forgets_messages, "forgets_messages", "broker_killed"},
    SeamMutant{SeamDefect::cancels_nothing, "cancels_nothing", "scheduling"},
    SeamMutant{SeamDefect::schedules_at_once, "schedules_at_once", "scheduling"},
};
static_assert(seam_mutants.size() + 1 >= static_cast<std::size_t>(SeamDefect::count_));

bool is_caught(const Campaign& campaign, const char* name) {
    std::string caught;
    const auto outcome = campaign.run(
        [&](std::uint64_t seed, const std::string& scenario, const Violation& violation) {
            caught = violation.oracle + ", seed " + std::to_string(seed) + " of " + scenario;
        });
    if (outcome.violations == 0) {
        std::printf("%-34s ESCAPED %llu seeds\n", name,
                    static_cast<unsigned long long>(outcome.run));
    } else {
        std::printf("%-34s caught after %llu seeds: %s\n", name,
                    static_cast<unsigned long long>(outcome.run), caught.c_str());
    }
    std::fflush(stdout);
    return outcome.violations != 0;
}

} // namespace

bool catch_mutants(std::uint64_t budget, bool network, unsigned jobs) {
    bool all = true;
    for (auto value = 1; value < static_cast<int>(Mutant::count_); ++value) {
        const auto mutant = static_cast<Mutant>(value);
        if (network && mutant == Mutant::loses_late_accept) {
            std::printf(
                "%-34s cannot be seen: this port gives a session that comes late back by itself\n",
                name_of(mutant));
            continue;
        }
        all = is_caught({.seeds = budget,
                         .network = network,
                         .mutant = mutant,
                         .jobs = jobs,
                         .until_first = true},
                        name_of(mutant)) &&
              all;
    }
    for (const SeamMutant& each :
         network ? std::span{seam_mutants} : std::span<const SeamMutant>{}) {
        all = is_caught({.seeds = budget,
                         .scenario = each.scenario,
                         .network = true,
                         .defect = each.defect,
                         .jobs = jobs,
                         .until_first = true},
                        each.name) &&
              all;
    }
    return all;
}

} // namespace sessionq::simulation
