#include "processor/slot_words.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using processor::SessionFacts;
using processor::VacancyFacts;
using processor::words_for;
using Session = processor::SessionMachine::Phase;
using Slot = processor::SlotMachine::Phase;

TEST_CASE(
    "slot words: a slot without a session says what it waits for, or that it waits for nothing") {
    CHECK(words_for(VacancyFacts{.phase = Slot::accepting, .has_accept = true}).waits_for ==
          "a session");
    CHECK(words_for(VacancyFacts{.phase = Slot::accepting}).waits_for.empty());
    CHECK(words_for(VacancyFacts{.phase = Slot::backing_off, .has_timer = true}).waits_for ==
          "its backoff");
    CHECK(words_for(VacancyFacts{.phase = Slot::backing_off}).waits_for.empty());
    CHECK(words_for(VacancyFacts{.phase = Slot::vacant, .names_sessions = true}).waits_for ==
          "one of the named sessions to be free");
    CHECK(words_for(VacancyFacts{.phase = Slot::vacant}).waits_for.empty());
    CHECK(words_for(VacancyFacts{.phase = Slot::stopped}).state == "stopped");
}

TEST_CASE("slot words: of an open session the nearest wait is told") {
    SessionFacts session;
    CHECK(words_for(session).state == "open");
    CHECK(words_for(session).waits_for.empty()); // begun, and nothing is expected: R16 forbids it
    session.expecting = true;
    CHECK(words_for(session).waits_for == "messages");
    session.draining = true;
    CHECK(words_for(session).waits_for == "the drain's answer");
    session.in_flight = true;
    CHECK(words_for(session).waits_for == "handlers");
    session.settling = true;
    CHECK(words_for(session).waits_for == "handlers and settlements");
    session.retrying = true;
    CHECK(words_for(session).waits_for == "the next try of a message");
    session.phase = Session::parked;
    CHECK(words_for(session).waits_for == "the end of parking");
    session.phase = Session::held_back;
    CHECK(words_for(session).waits_for == "the handlers of an earlier lock");
}

TEST_CASE("R16: slot words: a session that is not simply open always waits for something") {
    for (const Session phase : {Session::held_back, Session::opening, Session::parked,
                                Session::rewinding, Session::putting_back, Session::draining,
                                Session::leaving, Session::closing_call, Session::closing_link}) {
        for (const bool draining : {false, true}) {
            CAPTURE(static_cast<int>(phase));
            CHECK_FALSE(
                words_for(SessionFacts{.phase = phase, .draining = draining}).waits_for.empty());
            CHECK_FALSE(
                words_for(SessionFacts{.phase = phase, .draining = draining}).state.empty());
        }
    }
}
