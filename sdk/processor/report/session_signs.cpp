// SPDX-License-Identifier: MIT
#include "processor/report/session_signs.hpp"

namespace sessionq::processor {

SlotDescription describe(const SessionSigns& signs, TimePoint now) {
    return {.entity = signs.entity,
            .session_id = signs.session_id,
            .state = std::string{signs.words.state},
            .waits_for = std::string{signs.words.waits_for},
            .since = now - signs.progress_at,
            .window = signs.window,
            .in_flight = signs.in_flight,
            .running = signs.running,
            .ready_for = signs.ready_for};
}

} // namespace sessionq::processor
