#include "processor/slot_words.hpp"

namespace sessionq::processor {
namespace {

std::string_view handlers_or_settlements(const SessionFacts& session) noexcept {
    return session.settling ? "handlers and settlements" : "handlers";
}

std::string_view wait_of_open(const SessionFacts& session) noexcept {
    if (session.retrying) {
        return "the next try of a message";
    }
    if (session.in_flight) {
        return handlers_or_settlements(session);
    }
    if (session.draining) {
        return "the drain's answer";
    }
    if (session.expecting) {
        return "messages";
    }
    return "";
}

} // namespace

SlotWords words_for(const VacancyFacts& slot) noexcept {
    switch (slot.phase) {
    case SlotMachine::Phase::vacant:
        return {"vacant", slot.names_sessions ? "one of the named sessions to be free" : ""};
    case SlotMachine::Phase::accepting: return {"accepting", slot.has_accept ? "a session" : ""};
    case SlotMachine::Phase::backing_off:
        return {"backing_off", slot.has_timer ? "its backoff" : ""};
    case SlotMachine::Phase::holding: return {"open", ""};
    case SlotMachine::Phase::stopped: return {"stopped", "nothing: stopped"};
    }
    return {};
}

SlotWords words_for(const SessionFacts& session) noexcept {
    using Phase = SessionMachine::Phase;
    switch (session.phase) {
    case Phase::held_back: return {"open", "the handlers of an earlier lock"};
    case Phase::parked: return {"open", "the end of parking"};
    case Phase::opening: return {"opening", "on_session_open"};
    case Phase::working:
    case Phase::idling_out: return {"open", wait_of_open(session)};
    case Phase::rewinding: return {"rewinding", "the drain's answer"};
    case Phase::putting_back: return {"rewinding", "settlements"};
    case Phase::draining: return {"leaving", "the drain's answer"};
    case Phase::leaving: return {"leaving", handlers_or_settlements(session)};
    case Phase::closing_call: return {"closing", "on_session_close"};
    case Phase::closing_link:
    case Phase::finished: return {"closing", "the close's answer"};
    }
    return {};
}

} // namespace sessionq::processor
