// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include <sessionq/time.hpp>

#include "broker/available_messages.hpp"
#include "broker/consumer_target.hpp"
#include "broker/session_order.hpp"

namespace sessionq::broker {

struct ReadyTag;

/// A session with messages, state or a holder. Without any of these it does not exist.
struct Session : core::ListHook<ReadyTag> {
    const std::string* id{nullptr};          ///< its key in the session table
    SessionOrder::Position position{};       ///< kept by the session table
    SessionOrder::Position place_by_state{}; ///< the same
    WallTime state_set_at{};
    TimePoint ready_since{};                                ///< while it is ready
    core::IntrusiveList<StoredMessage, LiveTag> messages{}; ///< all messages, in sequence order
    AvailableMessages available{};
    ConsumerPtr holder{};
    std::unique_ptr<std::string> state{};
};

} // namespace sessionq::broker
