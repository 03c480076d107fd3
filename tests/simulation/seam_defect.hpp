#pragma once

#include <cstdint>

namespace sessionq::simulation {

/// Deliberate defects of what stands between the network's seams: our port as a sender sees it. Each shows that an oracle can fail.
enum class SeamDefect : std::uint8_t {
    none,
    confirms_lost_send,  ///< a send of which nothing is known is said to have had its effect
    refuses_taken_send,  ///< ... is said to have had none
    sends_twice,         ///< what is sent goes out twice
    loses_of_batch,      ///< the last message of a batch does not go out
    splits_batch,        ///< the messages of a batch go out one by one
    reverses_batch,      ///< ... in the wrong order
    confirms_lost_state, ///< a state of which nothing is known is said to be set
    repeats_state_write, ///< a write that failed with its session is made again once the session is held anew
    reads_old_state,     ///< what was read once is not read again
    count_,              // NOLINT(readability-identifier-naming): no defect, their number
};

} // namespace sessionq::simulation
