// SPDX-License-Identifier: MIT
#pragma once

#include <sessionq/time.hpp>

namespace sessionq::processor {

/// Bounds on what brokers may take before they count as unresponsive (R15, R16). Not for users: no
/// broker in working order comes near them.
struct Tuning {
    Duration accept_grace{std::chrono::seconds{5}};    ///< beyond the accept's own wait
    Duration drain_timeout{std::chrono::seconds{5}};   ///< an unanswered drain
    Duration close_timeout{std::chrono::seconds{5}};   ///< an unanswered close
    Duration settle_timeout{std::chrono::seconds{30}}; ///< settlements none of which is answered
    Duration watchdog_interval{std::chrono::seconds{1}};
    Duration rotate_wait{
        std::chrono::seconds{1}}; ///< wait of an accept where slots are fewer than entities
};

} // namespace sessionq::processor
