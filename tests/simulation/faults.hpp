#pragma once

#include <sessionq/time.hpp>

namespace sessionq::simulation {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// What goes wrong and how often: chances in percent, zero: never. A seed enables a random part of
/// what its scenario allows, so that rare combinations are met without every run being only noise.
struct Faults {
    Duration latency_low{milliseconds{1}};
    Duration latency_high{milliseconds{5}};

    unsigned accept_refused{0}; ///< locked elsewhere, busy, unauthorized, disabled, a timeout
    unsigned accept_mute{
        0}; ///< no answer until it is cancelled, or never before the connection ends
    unsigned accept_slow{0};  ///< granted only after a while, whatever was cancelled meanwhile
    unsigned accept_empty{0}; ///< granted although the session has no message

    unsigned detach_on_transfer{0};  ///< the link ends just after a message was sent
    unsigned detach_on_settle{0};    ///< the link ends before a settlement takes effect
    unsigned detach_after_settle{0}; ///< the link ends after it took effect, before the answer
    unsigned settle_refused{
        0};                  ///< the settlement is answered with "busy"; the message stays locked
    unsigned settle_slow{0}; ///< its answer takes long

    unsigned renew_slow{0};
    unsigned renew_failed{0};  ///< busy; the lock stays as it is
    unsigned renew_refused{0}; ///< lock lost; the link ends
    unsigned drain_slow{0};
    unsigned drain_mute{0}; ///< never answered
    unsigned close_slow{0};

    Duration detach_every{};     ///< mean time between links lost at random; zero: none
    Duration disconnect_every{}; ///< ... connections; zero: none
    Duration outage_high{};      ///< how long no new connection is made afterwards, at most
    Duration
        busy_every{}; ///< mean time between phases in which the broker refuses accepts; zero: none
    Duration busy_high{};
    unsigned half_open{0};  ///< of lost links: the consumer learns of it only after a while
    Duration stall_every{}; ///< mean time between pauses of a receive thread; zero: none
    Duration stall_high{};
};

} // namespace sessionq::simulation
