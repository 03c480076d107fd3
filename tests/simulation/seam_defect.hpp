// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace sessionq::simulation {

/// Deliberate defects at the seams of the network simulation: in the port as its users see it, and
/// in the store as the broker sees it. Each shows that an oracle can fail.
enum class SeamDefect : std::uint8_t {
    none,
    confirms_lost_send,  ///< a send with an unknown outcome is confirmed
    refuses_taken_send,  ///< a send with an unknown outcome is reported as failed
    sends_twice,         ///< every send goes out twice
    loses_of_batch,      ///< the last message of a batch is not sent
    splits_batch,        ///< the messages of a batch are sent one by one
    reverses_batch,      ///< the messages of a batch are sent in reverse order
    confirms_lost_state, ///< a state with an unknown outcome is confirmed
    repeats_state_write, ///< a write that failed with its session is repeated when the session is
                         ///< held again
    reads_old_state,     ///< a state that was read once is not read again
    confirms_before_commit, ///< the journal confirms a change before it is stored
    forgets_removals,       ///< the journal does not store removals
    forgets_changes,        ///< the journal does not store changes of messages
    forgets_states,         ///< the journal does not store states
    forgets_messages,       ///< the journal does not store the first new message
    cancels_nothing,        ///< a cancellation is confirmed and not done
    schedules_at_once,      ///< a scheduled message is sent at once
    count_,                 // NOLINT(readability-identifier-naming): no defect, their number
};

} // namespace sessionq::simulation
