#include "processor/session_machine.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using processor::SessionActions;
using processor::SessionMachine;
using Arrival = SessionMachine::Arrival;
using Phase = SessionMachine::Phase;

namespace {

/// The actions in words, in the order in which they are performed.
std::string words(const SessionActions& actions) {
    const std::pair<bool, const char*> rows[] = {
        {actions.fire_stop, "fire_stop"},
        {actions.pause_lane, "pause_lane"},
        {actions.release_waiting, "release_waiting"},
        {actions.discard_waiting, "discard_waiting"},
        {actions.settle_failed, "settle_failed"},
        {actions.start_drain, "start_drain"},
        {actions.commit_idle, "commit_idle"},
        {actions.release_lane, "release_lane"},
        {actions.grant_credit, "grant_credit"},
        {actions.run_open, "run_open"},
        {actions.run_close, "run_close"},
        {actions.close_link, "close_link"},
        {actions.finished, "finished"},
    };
    std::string text;
    for (const auto& [set, name] : rows) {
        if (set) {
            text.append(text.empty() ? "" : " ").append(name);
        }
    }
    return text;
}

/// A machine that works, with credit.
SessionMachine working(std::uint32_t credit = 10, SessionMachine::Traits traits = {}) {
    SessionMachine machine{traits};
    CHECK(words(machine.opened()) == "grant_credit");
    machine.credit_added(credit);
    return machine;
}

/// ... and has asked for the drain's answer.
SessionMachine idling_out(SessionMachine::Traits traits = {}) {
    SessionMachine machine = working(10, traits);
    CHECK(words(machine.idle_due()) == "start_drain");
    machine.drain_asked();
    return machine;
}

} // namespace

TEST_CASE(
    "session machine: on_session_open runs before any message, which may be fetched meanwhile") {
    SessionMachine machine{{.has_open_handler = true}};
    CHECK(words(machine.opened()) == "grant_credit run_open");
    CHECK(machine.phase() == Phase::opening);
    CHECK(machine.may_grant_credit());
    machine.credit_added(10);
    CHECK(machine.delivered() == Arrival::enqueue);
    CHECK(words(machine.open_finished(true)) == "release_lane");
    CHECK(machine.phase() == Phase::working);
}

TEST_CASE("session machine: an on_session_open that fails gives the session back") {
    SessionMachine machine{{.has_open_handler = true, .has_close_handler = true}};
    static_cast<void>(machine.opened());
    machine.credit_added(10);
    CHECK(machine.delivered() == Arrival::enqueue);
    CHECK(words(machine.open_finished(false)) == "pause_lane start_drain");
    machine.drain_asked();
    CHECK(machine.close_reason() == CloseReason::open_failed);
    CHECK(words(machine.drained()) == "release_waiting settle_failed");
    CHECK(words(machine.settled()) == "run_close");
}

TEST_CASE("session machine: on_session_close does not run where on_session_open did not") {
    SessionMachine machine{{.has_open_handler = true, .has_close_handler = true}};
    static_cast<void>(machine.opened());
    CHECK(words(machine.leave(CloseReason::stopped)) == "pause_lane release_waiting settle_failed");
    CHECK(words(machine.open_skipped()) == "close_link");
}

TEST_CASE("session machine: a session left before it was opened runs neither") {
    SessionMachine machine{{.has_open_handler = true, .has_close_handler = true}};
    CHECK(words(machine.leave(CloseReason::stopped)) ==
          "pause_lane release_waiting settle_failed close_link");
}

TEST_CASE("session machine: R1: nothing but a settled message ends being in flight") {
    SessionMachine machine = working();
    CHECK(machine.delivered() == Arrival::enqueue);
    CHECK(machine.delivered() == Arrival::enqueue);
    CHECK(machine.in_flight() == 2);
    CHECK(machine.credit() == 8);
    CHECK(words(machine.settled()) == "grant_credit");
    CHECK(machine.in_flight() == 1);
}

TEST_CASE("session machine: R3: an idle session is drained, then left, then given back") {
    SessionMachine machine = idling_out({.has_close_handler = true});
    CHECK(machine.phase() == Phase::idling_out);
    CHECK_FALSE(machine.may_grant_credit());
    CHECK(words(machine.drained()) == "commit_idle");
    CHECK(words(machine.idle_committed(true)) ==
          "pause_lane release_waiting settle_failed run_close");
    CHECK(words(machine.close_finished()) == "close_link");
    CHECK(words(machine.link_closed()) == "finished");
    CHECK(machine.close_reason() == CloseReason::idle);
}

TEST_CASE(
    "session machine: R2: a message before the drain's answer takes the session back to work") {
    SessionMachine machine = idling_out();
    CHECK(machine.delivered() == Arrival::enqueue);
    CHECK(words(machine.drained()) == "commit_idle");
    CHECK(words(machine.idle_committed(false)) == "grant_credit");
    CHECK(machine.phase() == Phase::working);
    CHECK(machine.may_grant_credit());
}

TEST_CASE("session machine: R2: also when it was handled by then") {
    SessionMachine machine = idling_out();
    CHECK(machine.delivered() == Arrival::enqueue);
    CHECK(words(machine.settled()).empty());
    CHECK(words(machine.idle_due()).empty()); // a later clock does not ask twice
    CHECK(words(machine.drained()) == "commit_idle");
}

TEST_CASE("session machine: R3: a message that comes once the session is being left goes back") {
    SessionMachine machine = idling_out();
    static_cast<void>(machine.drained());
    CHECK(words(machine.idle_committed(true)).find("close_link") != std::string::npos);
    CHECK(machine.delivered() == Arrival::release);
    CHECK(machine.in_flight() == 1);
    static_cast<void>(machine.settled());
    CHECK(machine.in_flight() == 0);
}

TEST_CASE("session machine: R4: with timeout zero one drain is all a roll needs") {
    SessionMachine machine = working(10, {.roll_when_empty = true});
    machine.drain_asked(); // at once, while the only message is on its way
    CHECK(machine.delivered() == Arrival::enqueue);
    CHECK(words(machine.drained()) == "grant_credit");
    CHECK(machine.shown_empty());
    CHECK_FALSE(machine.may_grant_credit()); // the broker has shown that there is no more
    static_cast<void>(machine.settled());
    CHECK(words(machine.idle_due()) == "commit_idle"); // no second drain
    CHECK(words(machine.idle_committed(true)) ==
          "pause_lane release_waiting settle_failed close_link");
}

TEST_CASE("session machine: R4: credit used to the last message shows nothing") {
    SessionMachine machine = working(1, {.roll_when_empty = true});
    machine.drain_asked();
    CHECK(machine.delivered() == Arrival::enqueue);
    static_cast<void>(machine.drained());
    CHECK_FALSE(machine.shown_empty());
    CHECK(machine.may_grant_credit());
}

TEST_CASE("session machine: R6: what is behind a failed message goes back first, then it, then "
          "credit is given") {
    SessionMachine machine = working();
    for (int i = 0; i < 3; ++i) {
        CHECK(machine.delivered() == Arrival::enqueue);
    }
    CHECK(words(machine.rewind()) == "start_drain");
    machine.drain_asked();
    CHECK(machine.phase() == Phase::rewinding);
    CHECK(machine.delivered() == Arrival::enqueue); // crossed the drain: goes back with the others
    CHECK_FALSE(machine.may_grant_credit());
    CHECK(words(machine.drained()) == "release_waiting settle_failed");
    CHECK(words(machine.settled()).empty());
    CHECK(words(machine.settled()).empty());
    CHECK(words(machine.settled()).empty());
    CHECK_FALSE(machine.may_grant_credit());
    CHECK(words(machine.settled()) == "release_lane grant_credit");
    CHECK(machine.phase() == Phase::working);
}

TEST_CASE("session machine: R6: without credit there is nothing to drain") {
    SessionMachine machine = working(2);
    CHECK(machine.delivered() == Arrival::enqueue);
    CHECK(machine.delivered() == Arrival::enqueue);
    CHECK(words(machine.rewind()) == "release_waiting settle_failed");
    CHECK(words(machine.settled()).empty());
    CHECK(words(machine.settled()) == "release_lane grant_credit");
}

TEST_CASE("session machine: R6: a message that came while idling out and failed waits for the "
          "drain under way") {
    SessionMachine machine = idling_out();
    CHECK(machine.delivered() == Arrival::enqueue);
    CHECK(words(machine.rewind()).empty());
    CHECK(words(machine.drained()) == "release_waiting settle_failed");
    CHECK(words(machine.settled()) == "release_lane grant_credit");
}

TEST_CASE("session machine: leaving gives back what waits after the drain's answer and waits for "
          "what runs") {
    SessionMachine machine = working();
    CHECK(machine.delivered() == Arrival::enqueue); // runs
    CHECK(machine.delivered() == Arrival::enqueue); // waits
    CHECK(words(machine.leave(CloseReason::max_hold)) == "pause_lane start_drain");
    machine.drain_asked();
    CHECK(words(machine.leave(CloseReason::stopped)).empty()); // once, the first reason stays
    CHECK(machine.close_reason() == CloseReason::max_hold);
    CHECK(machine.delivered() == Arrival::enqueue); // goes back in its order
    CHECK(words(machine.drained()) == "release_waiting settle_failed");
    CHECK(machine.delivered() == Arrival::release);
    CHECK(words(machine.settled()).empty());
    CHECK(words(machine.settled()).empty());
    CHECK(words(machine.settled()).empty());
    CHECK(words(machine.settled()) == "close_link");
}

TEST_CASE("session machine: a handler that fails while the session is left goes back after what "
          "was behind it") {
    SessionMachine machine = working();
    CHECK(machine.delivered() == Arrival::enqueue);
    static_cast<void>(machine.leave(CloseReason::stopped));
    machine.drain_asked();
    CHECK(words(machine.rewind()).empty());
    CHECK(words(machine.drained()) == "release_waiting settle_failed");

    SessionMachine later = working(1);
    CHECK(later.delivered() == Arrival::enqueue);
    CHECK(words(later.leave(CloseReason::stopped)) == "pause_lane release_waiting settle_failed");
    CHECK(words(later.rewind()) == "settle_failed");
}

TEST_CASE("session machine: receive-and-delete handles what arrived before it leaves") {
    SessionMachine machine = working(10, {.handles_all = true});
    CHECK(machine.delivered() == Arrival::enqueue);
    CHECK(words(machine.leave(CloseReason::stopped)) == "start_drain");
    machine.drain_asked();
    CHECK(machine.delivered() == Arrival::enqueue);
    CHECK(words(machine.drained()) == "settle_failed");
    CHECK(words(machine.settled()).empty());
    CHECK(words(machine.settled()) == "close_link");
}

TEST_CASE(
    "session machine: R9: the rest of the session is dead-lettered, then it is left for that") {
    SessionMachine machine = working();
    CHECK(machine.delivered() == Arrival::enqueue);
    CHECK(words(machine.dead_letter_rest()).empty());
    CHECK(machine.delivered() == Arrival::dead_letter);
    CHECK(words(machine.settled()) == "grant_credit");
    CHECK(words(machine.settled()) == "grant_credit");
    CHECK(words(machine.idle_due()) == "start_drain");
    machine.drain_asked();
    static_cast<void>(machine.drained());
    CHECK(words(machine.idle_committed(true)).find("close_link") != std::string::npos);
    CHECK(machine.close_reason() == CloseReason::dead_lettered);
}

TEST_CASE("session machine: R13: a lost lease forgets what waits, waits for what runs, and is told "
          "once") {
    SessionMachine machine = working(10, {.has_close_handler = true});
    CHECK(machine.delivered() == Arrival::enqueue);
    CHECK(words(machine.lost(CloseReason::lock_lost)) == "fire_stop pause_lane discard_waiting");
    CHECK(machine.is_lost());
    CHECK_FALSE(machine.may_grant_credit());
    CHECK(machine.credit() == 0);
    CHECK(words(machine.lost(CloseReason::connection_lost)).empty());
    CHECK(machine.close_reason() == CloseReason::lock_lost);
    CHECK(words(machine.settled()) == "run_close");
    CHECK(words(machine.close_finished()) == "close_link");
    CHECK(words(machine.link_closed()) == "finished");
}

TEST_CASE("session machine: R15: a loss answers what was asked of the broker") {
    SessionMachine draining = idling_out();
    CHECK(words(draining.lost(CloseReason::connection_lost)) ==
          "fire_stop pause_lane discard_waiting close_link");
    CHECK_FALSE(draining.drain_outstanding());

    SessionMachine closing = idling_out();
    static_cast<void>(closing.drained());
    static_cast<void>(closing.idle_committed(true));
    CHECK(closing.phase() == Phase::closing_link);
    CHECK(words(closing.lost(CloseReason::connection_lost)) == "finished");
    CHECK(words(closing.lost(CloseReason::connection_lost)).empty());
}

TEST_CASE("session machine: a loss while on_session_close runs does not run it again") {
    SessionMachine machine = working(0, {.has_close_handler = true});
    CHECK(words(machine.leave(CloseReason::released)) ==
          "pause_lane release_waiting settle_failed run_close");
    CHECK(words(machine.lost(CloseReason::lock_lost)) == "fire_stop");
    CHECK(words(machine.close_finished()) == "close_link");
}

TEST_CASE("session machine: R3: an unanswered drain is bounded") {
    SessionMachine idle = idling_out();
    CHECK(words(idle.drain_overdue()) == "commit_idle");
    CHECK(words(idle.idle_committed(true)) ==
          "pause_lane release_waiting settle_failed close_link");
    CHECK(words(idle.drain_overdue()).empty());

    SessionMachine leaving = working();
    static_cast<void>(leaving.leave(CloseReason::released));
    leaving.drain_asked();
    CHECK(words(leaving.drain_overdue()) == "release_waiting settle_failed close_link");
    CHECK(leaving.close_reason() == CloseReason::released);

    SessionMachine rewinding = working();
    CHECK(rewinding.delivered() == Arrival::enqueue);
    static_cast<void>(rewinding.rewind());
    rewinding.drain_asked();
    CHECK(words(rewinding.drain_overdue()) == "pause_lane release_waiting settle_failed");
    CHECK(rewinding.close_reason() == CloseReason::unresponsive);
}

TEST_CASE("session machine: after an unanswered drain no credit is given, though a message came") {
    SessionMachine machine = idling_out();
    CHECK(machine.delivered() == Arrival::enqueue);
    CHECK(words(machine.drain_overdue()) == "commit_idle");
    CHECK(words(machine.idle_committed(false)) == "pause_lane release_waiting settle_failed");
    CHECK_FALSE(machine.may_grant_credit());
    CHECK(machine.close_reason() == CloseReason::unresponsive);
}
