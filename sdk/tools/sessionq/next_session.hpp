// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include <sessionq/session_receiver.hpp>

namespace sessionq::cli {

/// The answer to the wish for any session of an entity.
struct NextSession {
    std::optional<SessionReceiver> session{}; ///< unset: none has messages, or there are none
    bool entity_has_sessions{true};
};

/// Waits for a session that has messages. Dead-letter queues and some others have no sessions.
[[nodiscard]] NextSession next_session(const Client& client, const std::string& entity,
                                       Duration wait, SessionReceiverOptions options = {});

} // namespace sessionq::cli
