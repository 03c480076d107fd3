// SPDX-License-Identifier: MIT
#include "tools/sessionq/next_session.hpp"

namespace sessionq::cli {

NextSession next_session(const Client& client, const std::string& entity, Duration wait,
                         SessionReceiverOptions options) {
    try {
        return {.session = SessionReceiver::accept_next_if_any(client, entity, wait, options)};
    } catch (const Error& error) {
        if (error.code() != Errc::session_required) {
            throw;
        }
        return {.entity_has_sessions = false};
    }
}

} // namespace sessionq::cli
