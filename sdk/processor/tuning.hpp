// SPDX-License-Identifier: MIT
#pragma once

#include <sessionq/time.hpp>

namespace sessionq::detail::processor {

/// Times after which a broker counts as unresponsive (R15, R16), and other intervals. Not for
/// users: no healthy broker comes near these limits.
struct Tuning {
    Duration accept_grace{
        std::chrono::seconds{5}}; ///< for the answer to an accept, beyond its own wait
    Duration drain_timeout{std::chrono::seconds{5}}; ///< for the answer to a drain
    Duration close_timeout{std::chrono::seconds{5}}; ///< for the answer to a close
    Duration settle_timeout{
        std::chrono::seconds{30}}; ///< for the next answer while settlements are unanswered
    Duration watchdog_interval{std::chrono::seconds{1}};
    Duration rotate_wait{
        std::chrono::seconds{1}}; ///< the wait of an accept if named sessions outnumber the slots
};

} // namespace sessionq::detail::processor
