#include "processor/session_machine.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "support/phase_table.hpp"
#include "unit/processor/support/session_bench.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using processor::MessageMachine;
using processor::SessionActions;
using processor::SessionMachine;
using test::SessionBench;
using Phase = SessionMachine::Phase;

namespace {

const Failure busy{.code = Errc::server_busy};
const Failure taken{.code = Errc::lock_lost};

const char* name_of(Phase phase) {
    static constexpr const char* names[] = {"held_back",    "opening",      "working",
                                            "parked",       "idling_out",   "rewinding",
                                            "putting_back", "draining",     "leaving",
                                            "closing_call", "closing_link", "finished"};
    return names[static_cast<std::size_t>(phase)];
}

} // namespace

TEST_CASE("session machine: on_session_open runs before any message, which may be fetched meanwhile") {
    SessionBench bench{{}, true};
    CHECK(bench.begin() == "opened run_open credit");
    CHECK(bench.machine.phase() == Phase::opening);
    CHECK(bench.arrive() == "enqueue");
    CHECK(bench.machine.in_flight() == 1);
    CHECK(bench.open_ended(true) == "limit release_lane");
    CHECK(bench.machine.phase() == Phase::working);
}

TEST_CASE("session machine: an on_session_open that fails gives the session back") {
    SessionBench bench{{}, true, true};
    static_cast<void>(bench.begin());
    static_cast<void>(bench.arrive());
    CHECK(bench.open_ended(false) == "limit pause drain");
    CHECK(bench.machine.close_reason() == CloseReason::open_failed);
    CHECK(bench.drained() == "take_back settle:release");
    CHECK(bench.answer(*bench.settling.front()) == "dispose run_close release_lane resume");
}

TEST_CASE("session machine: on_session_close does not run where on_session_open did not") {
    SessionBench bench{{}, true, true};
    static_cast<void>(bench.begin());
    CHECK(bench.leave(CloseReason::stopped) == "pause drain");
    CHECK(bench.drained() == "take_back close_link leave_slot");
    SessionBench unopened{{}, true, true};
    CHECK(unopened.leave(CloseReason::stopped) == "pause take_back close_link leave_slot");
    CHECK_FALSE(unopened.machine.was_opened());
}

TEST_CASE("session machine: R1: nothing but a message that has left ends being in flight") {
    SessionBench bench;
    static_cast<void>(bench.begin());
    MessageMachine& first = bench.arrive_and_start();
    static_cast<void>(bench.arrive());
    CHECK(bench.machine.in_flight() == 2);
    CHECK(bench.succeed(first) == "settle:complete");
    CHECK(bench.machine.in_flight() == 2);
    CHECK(bench.answer(first) == "dispose");
    CHECK(bench.machine.in_flight() == 1);
}

TEST_CASE("session machine: R3: an idle session is drained, then left, then given back") {
    SessionBench bench{{.session_idle_timeout = 1s}, false, true};
    CHECK(bench.begin() == "opened credit");
    CHECK(bench.machine.next() == bench.now + 1s);
    CHECK(bench.pass(999ms).empty());
    CHECK(bench.pass(1ms) == "drain");
    CHECK(bench.machine.phase() == Phase::idling_out);
    CHECK(bench.drained() == "pause take_back run_close resume");
    CHECK(bench.feed([&](auto& m, auto& out) { m.close_ended(bench.now, out); }) ==
          "close_link leave_slot");
    CHECK(bench.feed([](auto& m, auto& out) { m.link_closed(out); }) == "finish");
    CHECK(bench.machine.close_reason() == CloseReason::idle);
    CHECK(bench.machine.next() == TimePoint::max());
}

TEST_CASE("session machine: R2: a message before the drain's answer takes the session back to work") {
    SessionBench bench{{.session_idle_timeout = 1s}};
    static_cast<void>(bench.begin());
    CHECK(bench.pass(1s) == "drain");
    MessageMachine& message = bench.arrive_and_start();
    static_cast<void>(bench.succeed(message));
    static_cast<void>(bench.answer(message)); // also when it was handled by then
    CHECK(bench.drained() == "credit");
    CHECK(bench.machine.phase() == Phase::working);
    CHECK(bench.machine.next() == bench.now + 1s);
}

TEST_CASE("session machine: R3: a message that comes once the session is being left goes back") {
    SessionBench bench{{.session_idle_timeout = 1s}};
    static_cast<void>(bench.begin());
    static_cast<void>(bench.pass(1s));
    CHECK(bench.drained() == "pause take_back close_link leave_slot");
    CHECK(bench.arrive() == "settle:release");
    CHECK(bench.machine.in_flight() == 1);
    CHECK(bench.answer(*bench.settling.front()) == "dispose");
    CHECK(bench.machine.in_flight() == 0);
}

TEST_CASE("session machine: R4: with timeout zero one drain is all a roll needs") {
    SessionBench bench{{.session_idle_timeout = Duration::zero()}};
    CHECK(bench.begin() == "opened credit drain");
    MessageMachine& message = bench.arrive_and_start();
    CHECK(bench.drained().empty()); // shown empty: no more credit
    static_cast<void>(bench.succeed(message));
    CHECK(bench.answer(message) == "dispose");
    CHECK(bench.machine.next() == TimePoint{});
    CHECK(bench.pass(0s) == "pause take_back close_link leave_slot");
}

TEST_CASE("session machine: R6: what is behind a failed message goes back first, then it, then "
          "credit is given") {
    SessionBench bench;
    static_cast<void>(bench.begin());
    MessageMachine& failed = bench.arrive_and_start();
    static_cast<void>(bench.arrive());
    CHECK(bench.fail(failed) == "drain");
    CHECK(bench.machine.phase() == Phase::rewinding);
    CHECK(bench.arrive() == "enqueue"); // crossed the drain: goes back with the others
    CHECK(bench.drained() == "take_back settle:release settle:release settle:abandon");
    CHECK(bench.machine.phase() == Phase::putting_back);
    REQUIRE(bench.settling.size() == 3);
    CHECK(bench.answer(*bench.settling.front()) == "dispose");
    CHECK(bench.answer(*bench.settling.front()) == "dispose");
    CHECK(bench.answer(*bench.settling.front()) == "dispose release_lane credit");
    CHECK(bench.machine.phase() == Phase::working);
}

TEST_CASE("session machine: leaving gives back what waits after the drain's answer and waits for "
          "what runs") {
    SessionBench bench;
    static_cast<void>(bench.begin());
    MessageMachine& running = bench.arrive_and_start();
    static_cast<void>(bench.arrive());
    CHECK(bench.leave(CloseReason::max_hold) == "pause drain");
    CHECK(bench.leave(CloseReason::stopped).empty()); // once, the first reason stays
    CHECK(bench.machine.close_reason() == CloseReason::max_hold);
    CHECK(bench.arrive() == "enqueue"); // goes back in its order
    CHECK(bench.drained() == "take_back settle:release settle:release");
    CHECK(bench.arrive() == "settle:release");
    while (!bench.settling.empty()) {
        CHECK(bench.answer(*bench.settling.front()) == "dispose");
    }
    CHECK(bench.succeed(running) == "settle:complete");
    CHECK(bench.answer(running) == "dispose close_link leave_slot");
}

TEST_CASE("session machine: a handler that fails while the session is left goes back after what "
          "was behind it") {
    SessionBench bench;
    static_cast<void>(bench.begin());
    MessageMachine& running = bench.arrive_and_start();
    static_cast<void>(bench.arrive());
    static_cast<void>(bench.leave(CloseReason::stopped));
    CHECK(bench.fail(running).empty());
    CHECK(bench.drained() == "take_back settle:release settle:abandon");
}

TEST_CASE("session machine: receive-and-delete handles what arrived before it leaves") {
    SessionBench bench{{.receive_and_delete = true}};
    static_cast<void>(bench.begin());
    static_cast<void>(bench.arrive());
    CHECK(bench.leave(CloseReason::stopped) == "drain");
    CHECK(bench.drained().empty());
    CHECK(bench.succeed(bench.start()) == "dispose close_link leave_slot");
}

TEST_CASE("session machine: R9: the rest of the session is dead-lettered, then it is left for that") {
    SessionBench bench{{.failure_policy = FailurePolicy::dead_letter_session()}};
    static_cast<void>(bench.begin());
    MessageMachine& failed = bench.arrive_and_start();
    static_cast<void>(bench.arrive());
    CHECK(bench.fail(failed) == "settle:failed take_back settle:session");
    CHECK(bench.arrive() == "settle:session");
    while (!bench.settling.empty()) {
        static_cast<void>(bench.answer(*bench.settling.front()));
    }
    CHECK(bench.pass(0s) == "drain");
    CHECK(bench.drained() == "pause take_back close_link leave_slot");
    CHECK(bench.machine.close_reason() == CloseReason::dead_lettered);
}

TEST_CASE("session machine: R9: parked, it rests until everything goes back in order") {
    SessionBench bench{{.failure_policy = FailurePolicy::park_session(10s)}};
    static_cast<void>(bench.begin());
    MessageMachine& failed = bench.arrive_and_start();
    static_cast<void>(bench.arrive());
    CHECK(bench.fail(failed) == "pause");
    CHECK(bench.machine.phase() == Phase::parked);
    CHECK(bench.machine.next() == bench.now + 10s);
    CHECK(bench.pass(10s) == "pause drain");
    CHECK(bench.drained() == "take_back settle:release settle:abandon");
}

TEST_CASE("session machine: R13: a lost lock forgets what waits, waits for what runs, is told once") {
    SessionBench bench{{}, false, true};
    static_cast<void>(bench.begin());
    MessageMachine& running = bench.arrive_and_start();
    static_cast<void>(bench.arrive());
    CHECK(bench.lose() == "lost lock_over pause take_back dispose");
    CHECK(bench.lose(CloseReason::connection_lost).empty());
    CHECK(bench.machine.close_reason() == CloseReason::lock_lost);
    CHECK(bench.succeed(running) == "drop_link dispose run_close resume" );
    CHECK(bench.feed([&](auto& m, auto& out) { m.close_ended(bench.now, out); }) ==
          "leave_slot finish");
}

TEST_CASE("session machine: a lock lost by an answer is dealt with by the next turn") {
    SessionBench bench;
    static_cast<void>(bench.begin());
    MessageMachine& message = bench.arrive_and_start();
    static_cast<void>(bench.succeed(message));
    CHECK(bench.answer(message, &taken) == "dispose");
    CHECK(bench.machine.next() == TimePoint{});
    CHECK(bench.pass(0s) == "lost lock_over pause take_back drop_link leave_slot finish");
}

TEST_CASE("session machine: R15: unanswered settlements, drains and closes are bounded") {
    SessionBench settling;
    static_cast<void>(settling.begin());
    MessageMachine& message = settling.arrive_and_start();
    static_cast<void>(settling.succeed(message));
    CHECK(settling.pass(30s).starts_with("silent lost lock_over pause take_back drop_link dispose"));

    SessionBench draining{{.session_idle_timeout = 1s}};
    static_cast<void>(draining.begin());
    CHECK(draining.pass(1s) == "drain");
    CHECK(draining.pass(5s) == "pause take_back close_link leave_slot");
    CHECK(draining.pass(5s) == "drop_link finish");

    SessionBench rewinding;
    static_cast<void>(rewinding.begin());
    static_cast<void>(rewinding.fail(rewinding.arrive_and_start()));
    CHECK(rewinding.pass(5s) == "pause take_back settle:abandon");
    CHECK(rewinding.machine.close_reason() == CloseReason::unresponsive);
}

TEST_CASE("session machine: after an unanswered drain no credit is given, though a message came") {
    SessionBench bench{{.session_idle_timeout = 1s}};
    static_cast<void>(bench.begin());
    static_cast<void>(bench.pass(1s));
    static_cast<void>(bench.arrive());
    CHECK(bench.pass(5s) == "pause take_back settle:release");
    CHECK(bench.machine.close_reason() == CloseReason::unresponsive);
}

TEST_CASE("session machine: R14: max_hold and max_messages_per_turn end a busy session") {
    SessionBench held{{.max_hold = 10s}};
    static_cast<void>(held.begin());
    static_cast<void>(held.arrive_and_start());
    CHECK(held.pass(10s) == "pause drain");
    CHECK(held.machine.close_reason() == CloseReason::max_hold);

    SessionBench turn{{.max_messages_per_turn = 1}};
    static_cast<void>(turn.begin());
    MessageMachine& message = turn.arrive_and_start();
    CHECK(turn.succeed(message) == "settle:complete pause take_back");
    CHECK(turn.machine.close_reason() == CloseReason::max_messages);
}

#include "unit/processor/session_machine_table.inc"
