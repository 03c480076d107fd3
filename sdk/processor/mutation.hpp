#pragma once

#include <cstdint>

namespace sessionq::processor {

/// Deliberate defects of the decision classes. The simulation must catch each of them, which shows
/// that its oracles can fail.
enum class Mutant : std::uint8_t {
    none,
    idle_fires_while_handler_runs,   ///< the idle clock is not stopped by work in flight
    disarmed_only_at_handler_start,  ///< arrival leaves the idle clock running
    idle_ignores_pending_settlement, ///< a message being settled does not count as in flight
    settles_twice,                   ///< a finished message is settled once more
    completes_before_handler,        ///< a message is completed on arrival
    completes_after_failure,         ///< a handler that threw counts as one that returned
    overtakes_after_abandon,         ///< what was prefetched behind an abandoned message runs first
    starts_next_before_settled,      ///< strict order does not wait for the settlement
    leaves_without_drain,            ///< detaches without asking for the credit back
    ignores_message_during_drain,    ///< leaves although a message came before the drain's answer
    accepts_beyond_limit,            ///< one slot more than configured
    renews_on_worker,                ///< a renewal waits until a worker is free
    never_renews,                    ///< the lease is left to expire
    warns_after_expiry,              ///< the stop token fires when the lease is gone, not before
    starts_after_lock_lost,          ///< handlers start although the lease is lost
    settles_after_lock_lost,         ///< settlements are sent although the lease is lost
    loses_late_accept,       ///< a session that arrives after its accept was given up is kept and
                             ///< forgotten
    never_backs_off,         ///< a failed accept is repeated at once
    forgets_lane,            ///< nobody is told of a lane that has work
    forgets_slot,            ///< a slot whose accept failed waits for nothing
    credits_beyond_budget,   ///< credit does not follow the buffer budget
    stop_ignores_deadline,   ///< stop waits for handlers for as long as they take
    keeps_unstarted_on_stop, ///< stop does not give back what never started
    ignores_shorter_stop,    ///< a second stop with an earlier deadline changes nothing
    count_,                  // NOLINT(readability-identifier-naming): no mutant, their number
};

#ifdef SESSIONQ_MUTANTS
/// The defect in force on this thread. Only the simulation's build of this part has it.
inline thread_local Mutant current_mutant{Mutant::none};

[[nodiscard]] inline bool mutated(Mutant mutant) noexcept { return current_mutant == mutant; }
#else
/// False at compile time: the product has no defect to choose.
[[nodiscard]] constexpr bool mutated(Mutant /*mutant*/) noexcept { return false; }
#endif

} // namespace sessionq::processor
