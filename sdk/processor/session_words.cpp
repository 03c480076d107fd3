// SPDX-License-Identifier: MIT
#include "processor/session_words.hpp"

namespace sessionq::processor {
namespace {

using Phase = SessionState::Phase;

std::string_view wait_of_open(const SessionState& session, const MessageBook& book,
                              std::uint32_t in_flight) noexcept {
    if (book.is_retrying() && (session.terms.ordered || !book.handlers_run())) {
        return "the next try of a message";
    }
    if (in_flight != 0 || session.credit.is_draining()) {
        return in_flight != 0 ? book.words() : "the drain's answer";
    }
    return session.credit.credit() != 0 || session.idle.runs() ? "messages" : "";
}

} // namespace

SlotWords words_of(const SessionState& session, const MessageBook& book,
                   std::uint32_t in_flight) noexcept {
    switch (session.phase) {
    case Phase::held_back: return {"open", "the handlers of an earlier lock"};
    case Phase::parked:
        return {"parked",
                session.credit.is_draining() ? "the drain's answer" : "the end of parking"};
    case Phase::opening: return {"opening", "on_session_open"};
    case Phase::working:
    case Phase::idling_out: return {"open", wait_of_open(session, book, in_flight)};
    case Phase::rewinding: return {"rewinding", "the drain's answer"};
    case Phase::putting_back: return {"rewinding", "settlements"};
    case Phase::draining: return {"leaving", "the drain's answer"};
    case Phase::leaving: return {"leaving", book.words()};
    case Phase::closing_call: return {"closing", "on_session_close"};
    case Phase::closing_link:
    case Phase::finished: return {"closing", "the close's answer"};
    }
    return {};
}

} // namespace sessionq::processor
