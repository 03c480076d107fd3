// SPDX-License-Identifier: MIT
#include <sessionq/processor_report.hpp>

#include <iterator>
#include <sstream>

#include <sessionq/session_context.hpp>

#include "core/peer_words.hpp"

namespace sessionq {

namespace {

template <typename Value, std::size_t Count>
std::string_view name_of(Value value, const std::string_view (&names)[Count]) noexcept {
    const auto index = static_cast<std::size_t>(value);
    return index < Count ? names[index] : "unknown";
}

} // namespace

std::string_view to_string(CloseReason reason) noexcept {
    static constexpr std::string_view names[] = {
        "idle",          "released",        "stopped",     "max_hold",      "max_messages",
        "limit_lowered", "paused",          "parked",      "dead_lettered", "open_failed",
        "lock_lost",     "connection_lost", "unresponsive"};
    static_assert(std::size(names) == static_cast<std::size_t>(CloseReason::unresponsive) + 1);
    return name_of(reason, names);
}

std::string_view to_string(ErrorSource source) noexcept {
    static constexpr std::string_view names[] = {
        "accept",       "session_open", "message_handler", "session_close", "settlement",
        "lock_renewal", "link",         "failure_policy",  "session_record"};
    static_assert(std::size(names) == static_cast<std::size_t>(ErrorSource::session_record) + 1);
    return name_of(source, names);
}

std::string_view to_string(MessageFate fate) noexcept {
    static constexpr std::string_view names[] = {"none",          "tried_again", "abandoned",
                                                 "comes_again",   "parked",      "retried_later",
                                                 "dead_lettered", "settled",     "removed"};
    static_assert(std::size(names) == static_cast<std::size_t>(MessageFate::removed) + 1);
    return name_of(fate, names);
}

bool is_handled_again(MessageFate fate) noexcept {
    return fate >= MessageFate::tried_again && fate <= MessageFate::retried_later;
}

namespace {

std::string_view words_of(ErrorSource source) noexcept {
    static constexpr std::string_view words[] = {"no session was accepted",
                                                 "on_session_open threw",
                                                 "the handler failed",
                                                 "on_session_close threw",
                                                 "a settlement failed",
                                                 "the lock was not kept",
                                                 "the session was lost",
                                                 "on_failure failed",
                                                 "the delay of retry_later was not read or kept"};
    static_assert(std::size(words) == static_cast<std::size_t>(ErrorSource::session_record) + 1);
    return name_of(source, words);
}

std::string_view words_of(MessageFate fate) noexcept {
    static constexpr std::string_view words[] = {
        "",
        "; it is handled again here",
        "; it goes back and comes again",
        "; it comes again",
        "; its session is parked",
        "; it comes again after the delay of retry_later",
        "; it is dead-lettered",
        "; it stays settled as its handler decided",
        "; it is gone, because the broker removed it at its delivery"};
    static_assert(std::size(words) == static_cast<std::size_t>(MessageFate::removed) + 1);
    return name_of(fate, words);
}

} // namespace

std::string ErrorContext::to_string() const {
    std::string text;
    const auto add = [&text](const std::string& place) {
        text += (text.empty() ? "" : ", ") + place;
    };
    if (!entity.empty()) {
        add("'" + entity + "'");
    }
    if (!session_id.empty()) {
        add("session '" + core::peer_words(session_id) + "'");
    }
    if (sequence_number != 0 || !message_id.empty()) {
        const std::string id = message_id.empty() ? "" : "'" + core::peer_words(message_id) + "' ";
        add("message " + id + "(sequence " + std::to_string(sequence_number) +
            (attempt == 0 ? ")" : ", attempt " + std::to_string(attempt) + ")"));
    }
    text += text.empty() ? "" : ": ";
    text.append(words_of(source)).append(": ").append(failure.to_string());
    return text.append(words_of(fate));
}

namespace {

void write(std::ostream& text, const SlotDescription& slot) {
    text << slot.state;
    if (!slot.session_id.empty()) {
        text << " '" << slot.session_id << "'";
    }
    text << ", waits for " << (slot.waits_for.empty() ? "nothing" : slot.waits_for) << ", "
         << slot.in_flight << " in flight, " << slot.running << " running, "
         << (slot.window != 0 ? "window " + std::to_string(slot.window) + ", " : "")
         << std::chrono::duration_cast<std::chrono::milliseconds>(slot.since).count() << " ms\n";
}

} // namespace

std::string ProcessorDescription::to_string() const {
    static constexpr std::string_view states[] = {"created", "running", "paused", "stopping",
                                                  "stopped"};
    std::ostringstream text;
    text << name_of(state, states) << ", " << buffered_bytes << " bytes buffered, "
         << health.to_string();
    text << "messages: " << counters.messages_handled << " handled, " << counters.messages_failed
         << " failed, " << counters.messages_released << " released, " << counters.messages_expired
         << " expired\n";
    text << "sessions: " << counters.sessions_opened << " opened, " << counters.sessions_closed
         << " closed, " << counters.sessions_parked << " parked, " << counters.locks_lost
         << " locks lost, " << counters.empty_accepts << " empty accepts, "
         << counters.surplus_accepts << " surplus accepts\n";
    for (std::size_t i = 0; i < slots.size(); ++i) {
        text << "slot " << i << ": ";
        write(text, slots[i]);
    }
    for (const auto* sessions : {&parked, &settling}) {
        for (const SlotDescription& session : *sessions) {
            text << "no slot: ";
            write(text, session);
        }
    }
    return text.str();
}

} // namespace sessionq
