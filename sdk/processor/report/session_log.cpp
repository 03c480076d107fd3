// SPDX-License-Identifier: MIT
#include "processor/report/session_log.hpp"

#include <string>

#include "core/log.hpp"
#include "core/log_events.hpp"
#include "core/peer_words.hpp"

namespace sessionq::detail::processor {
namespace {

void log_message(const SessionView& session, const ReceivedMessage& message, std::string_view event,
                 std::string_view words, std::string_view outcome) noexcept {
    const std::string sequence = std::to_string(message.sequence_number());
    const std::string id = core::peer_words(session.session_id());
    core::log_event(LogLevel::trace, "processor", event,
                    {{"entity", session.entity()},
                     {"session", session.session_id()},
                     {"message_id", message.message_id()},
                     {"sequence", sequence, true},
                     {"outcome", outcome}},
                    "message ", sequence, " of session '", id, "' of '", session.entity(), "'",
                    words, outcome);
}

} // namespace

void log_short_lock(const SessionView& session, Duration took,
                    const core::Result<ports::LockGrant>& answer) {
    const std::string words = session.workplace().renewals.judge(session.entity(), took, answer);
    if (!words.empty()) {
        core::log_event(LogLevel::warning, "processor", core::events::doubtful_setting,
                        {{"entity", session.entity()}}, words);
    }
}

void log_session(const SessionView& session, std::string_view event, std::string_view words,
                 std::string_view reason) noexcept {
    if (log_level() > LogLevel::debug) {
        return;
    }
    const std::string id = core::peer_words(session.session_id());
    core::log_event(
        LogLevel::debug, "processor", event,
        {{"entity", session.entity()}, {"session", session.session_id()}, {"reason", reason}},
        "session '", id, "' of '", session.entity(), "'", words, reason);
}

void log_received(const SessionView& session, const ReceivedMessage& message) noexcept {
    if (log_level() <= LogLevel::trace) {
        log_message(session, message, core::events::message_received, " is received", {});
    }
}

void log_settling(const SessionView& session, const ReceivedMessage& message,
                  ports::Outcome outcome) noexcept {
    if (log_level() <= LogLevel::trace) {
        log_message(session, message, core::events::message_settling,
                    " is settled: ", to_string(outcome));
    }
}

} // namespace sessionq::detail::processor
