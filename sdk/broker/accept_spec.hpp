#pragma once

#include <optional>
#include <string>

#include "broker/consumer.hpp"

namespace sessionq::broker {

/// Which session a client wants to accept, and how.
struct AcceptSpec {
    /// unset: the ready session with the oldest first message
    std::optional<std::string> session_id{};
    ReceiveMode mode{ReceiveMode::peek_lock};
    int priority{0};   ///< among waiting accepts; the highest is served first
    TimePoint until{}; ///< how long to wait for a ready session; not after now: do not wait
};

} // namespace sessionq::broker
