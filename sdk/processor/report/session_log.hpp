// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include <sessionq/logging.hpp>
#include <sessionq/received_message.hpp>

#include "ports/delivery.hpp"
#include "processor/session/session_view.hpp"

namespace sessionq::detail::processor {

/// Logs an event in a session's life, at debug. `reason`: why the session was closed.
void log_session(const SessionView& session, std::string_view event, std::string_view words,
                 std::string_view reason = {}) noexcept;

/// Log the arrival of a message and its settlement, at trace.
void log_received(const SessionView& session, const ReceivedMessage& message) noexcept;
void log_settling(const SessionView& session, const ReceivedMessage& message,
                  ports::Outcome outcome) noexcept;

/// The broker answered a renewal after `took`. Warns if `RenewalBook` finds the lock too short.
void log_short_lock(const SessionView& session, Duration took,
                    const core::Result<ports::LockGrant>& answer);

} // namespace sessionq::detail::processor
