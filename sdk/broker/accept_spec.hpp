// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "broker/accept_claim.hpp"
#include "broker/consumer.hpp"

namespace sessionq::broker {

/// Which session a client wants to accept, and how.
struct AcceptSpec {
    /// unset: the session that has been ready longest: unlocked, with available messages
    std::optional<std::string> session_id{};
    ReceiveMode mode{ReceiveMode::peek_lock};
    int priority{0};   ///< among waiting accepts; the highest is served first
    TimePoint until{}; ///< how long to wait for a ready session; not after now: do not wait
    /// Set: the ask waits at several entities, and one of them answers. Not with `session_id`.
    std::shared_ptr<AcceptClaim> claim{};
};

} // namespace sessionq::broker
