#include <sessionq/processor_report.hpp>

#include <sstream>

#include <sessionq/session_context.hpp>

namespace sessionq {

std::string_view to_string(CloseReason reason) noexcept {
    switch (reason) {
    case CloseReason::idle: return "idle";
    case CloseReason::released: return "released";
    case CloseReason::stopped: return "stopped";
    case CloseReason::max_hold: return "max_hold";
    case CloseReason::max_messages: return "max_messages";
    case CloseReason::limit_lowered: return "limit_lowered";
    case CloseReason::parked: return "parked";
    case CloseReason::dead_lettered: return "dead_lettered";
    case CloseReason::open_failed: return "open_failed";
    case CloseReason::lock_lost: return "lock_lost";
    case CloseReason::connection_lost: return "connection_lost";
    case CloseReason::unresponsive: return "unresponsive";
    }
    return "unknown";
}

std::string_view to_string(ErrorSource source) noexcept {
    switch (source) {
    case ErrorSource::accept: return "accept";
    case ErrorSource::session_open: return "session_open";
    case ErrorSource::message_handler: return "message_handler";
    case ErrorSource::session_close: return "session_close";
    case ErrorSource::settlement: return "settlement";
    case ErrorSource::lock_renewal: return "lock_renewal";
    case ErrorSource::link: return "link";
    }
    return "unknown";
}

std::string ProcessorDescription::to_string() const {
    static constexpr const char* states[] = {"created", "running", "stopping", "stopped"};
    std::ostringstream text;
    text << states[static_cast<unsigned>(state)] << (degraded.empty() ? "" : ", degraded") << ", "
         << buffered_bytes << " bytes buffered\n";
    for (const std::string& reason : degraded) {
        text << "degraded: " << reason << '\n';
    }
    text << "messages: " << counters.messages_handled << " handled, " << counters.messages_failed
         << " failed, " << counters.messages_released << " released, " << counters.messages_expired
         << " expired\n";
    text << "sessions: " << counters.sessions_opened << " opened, " << counters.sessions_closed
         << " closed, " << counters.locks_lost << " locks lost, " << counters.empty_accepts
         << " empty accepts\n";
    for (std::size_t i = 0; i < slots.size(); ++i) {
        const SlotDescription& slot = slots[i];
        text << "slot " << i << ": " << slot.state;
        if (!slot.session_id.empty()) {
            text << " '" << slot.session_id << "'";
        }
        text << ", waits for " << (slot.waits_for.empty() ? "nothing" : slot.waits_for) << ", "
             << slot.in_flight << " in flight, " << slot.running << " running, "
             << std::chrono::duration_cast<std::chrono::milliseconds>(slot.since).count()
             << " ms\n";
    }
    return text.str();
}

} // namespace sessionq
