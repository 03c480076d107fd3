// SPDX-License-Identifier: MIT
#pragma once

#include <sessionq/time.hpp>

namespace sessionq::simulation {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Faults and their chances in percent. Zero is never. Each seed enables a random part of what its
/// scenario allows, so that rare combinations occur and not every run is noise.
struct Faults {
    Duration latency_low{milliseconds{1}};
    Duration latency_high{milliseconds{5}};

    unsigned accept_refused{0}; ///< locked elsewhere, busy, unauthorized, disabled, a timeout
    unsigned accept_mute{0};    ///< no answer until it is given up or the connection ends
    unsigned accept_slow{0};    ///< granted late, even if given up meanwhile
    unsigned accept_empty{0};   ///< granted although the session has no messages

    unsigned detach_on_transfer{0};  ///< the link ends right after a message was sent
    unsigned detach_on_settle{0};    ///< the link ends before a settlement takes effect
    unsigned detach_after_settle{0}; ///< the link ends after the effect and before the answer
    unsigned settle_refused{0};      ///< the answer is "busy" and the message stays locked
    unsigned settle_slow{0};         ///< the answer is late

    unsigned renew_slow{0};
    unsigned renew_failed{0};  ///< the answer is "busy" and the lock stays
    unsigned renew_refused{0}; ///< the lock is lost and the link ends
    unsigned drain_slow{0};
    unsigned drain_mute{0}; ///< no answer
    unsigned close_slow{0};

    Duration detach_every{};     ///< mean time between random losses of a link; zero: none
    Duration disconnect_every{}; ///< mean time between random losses of a connection; zero: none
    Duration outage_high{};      ///< the longest outage after it
    Duration
        busy_every{}; ///< mean time between phases in which the broker refuses accepts; zero: none
    Duration busy_high{};
    unsigned half_open{0};  ///< the consumer learns late of a lost link
    Duration stall_every{}; ///< mean time between pauses of a receive thread; zero: none
    Duration stall_high{};
};

} // namespace sessionq::simulation
