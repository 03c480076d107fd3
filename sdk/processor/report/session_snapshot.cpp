// SPDX-License-Identifier: MIT
#include "processor/report/session_snapshot.hpp"

namespace sessionq::detail::processor {

SlotDescription describe(const SessionSnapshot& snapshot, TimePoint now) {
    return {.entity = snapshot.entity,
            .session_id = snapshot.session_id,
            .state = std::string{snapshot.status.state},
            .waits_for = std::string{snapshot.status.waits_for},
            .since = now - snapshot.progress_at,
            .window = snapshot.window,
            .in_flight = snapshot.in_flight,
            .running = snapshot.running,
            .ready_for = snapshot.ready_for};
}

} // namespace sessionq::detail::processor
