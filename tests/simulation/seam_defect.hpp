#pragma once

#include <cstdint>

namespace sessionq::simulation {

/// Deliberate defects of what stands between the network's seams: our port as its users see it, and
/// the store as the broker sees it. Each shows that an oracle can fail.
enum class SeamDefect : std::uint8_t {
    none,
    confirms_lost_send,  ///< a send of which nothing is known is said to have had its effect
    refuses_taken_send,  ///< ... is said to have had none
    sends_twice,         ///< what is sent goes out twice
    loses_of_batch,      ///< the last message of a batch does not go out
    splits_batch,        ///< the messages of a batch go out one by one
    reverses_batch,      ///< ... in the wrong order
    confirms_lost_state, ///< a state of which nothing is known is said to be set
    repeats_state_write, ///< a write that failed with its session is made again once the session is
                         ///< held anew
    reads_old_state,     ///< what was read once is not read again
    confirms_before_commit, ///< the journal says that a change is kept when it is not yet
    forgets_removals,       ///< ... does not keep that a message is gone
    forgets_changes,        ///< ... does not keep how a message changed
    forgets_states,         ///< ... does not keep states
    forgets_messages,       ///< ... does not keep the first message that is new
    cancels_nothing,        ///< what is to be cancelled is said to be, and is not
    schedules_at_once,      ///< what is scheduled is sent at once
    count_,                 // NOLINT(readability-identifier-naming): no defect, their number
};

} // namespace sessionq::simulation
