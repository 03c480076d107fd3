#pragma once

#include <optional>
#include <string>

#include "broker/consumer.hpp"

namespace sessionq::broker {

/// Which session a client wants and how.
struct AcceptSpec {
    std::optional<std::string> session_id{}; ///< unset: the ready one whose first message is oldest
    ReceiveMode mode{ReceiveMode::peek_lock};
    int priority{0};   ///< among those that wait; higher first
    TimePoint until{}; ///< wait for a session to become ready; not after now: answer at once
};

} // namespace sessionq::broker
