// SPDX-License-Identifier: MIT
#include "processor/session/session_machine.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <set>
#include <sstream>

#include "support/phase_table.hpp"
#include "unit/processor/support/session_bench.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using detail::processor::MessageMachine;
using detail::processor::SessionLimits;
using detail::processor::SessionMachine;
using test::SessionBench;
using Phase = SessionMachine::Phase;
using Seat = SessionMachine::Seat;

namespace {

const Failure busy{.code = Errc::server_busy};
const Failure taken{.code = Errc::lock_lost};

const char* name_of(Phase phase) {
    static constexpr const char* names[] = {
        "held_back",    "opening",  "working", "parked",       "idling_out",   "rewinding",
        "putting_back", "draining", "leaving", "closing_call", "closing_link", "finished"};
    return names[static_cast<std::size_t>(phase)];
}

} // namespace

TEST_CASE(
    "session machine: on_session_open runs before any message, which may be fetched meanwhile") {
    SessionBench bench{{}, true};
    CHECK(bench.begin() == "opened run_open credit");
    CHECK(bench.machine.phase() == Phase::opening);
    CHECK(bench.arrive() == "enqueue");
    CHECK(bench.machine.in_flight() == 1);
    CHECK(bench.open_ended(true) == "limit release_lane");
    CHECK(bench.machine.phase() == Phase::working);
}

TEST_CASE(
    "session machine: R17: an on_session_open that fails parks the session, longer each time") {
    SessionBench bench{{}, true, true};
    static_cast<void>(bench.begin());
    static_cast<void>(bench.arrive());
    CHECK(bench.open_ended(false) == "limit pause drain");
    CHECK(bench.machine.close_reason() == CloseReason::open_failed);
    CHECK(bench.drained() == "take_back settle:release parked free_slot");
    CHECK(bench.answer(*bench.settling.front()) == "dispose");
    CHECK(bench.pass(49ms).empty());
    CHECK(bench.pass(51ms) == "pause take_back run_close release_lane resume");
    CHECK(bench.machine.close_reason() == CloseReason::open_failed);

    SessionBench again{{}, true, true};
    static_cast<void>(again.begin());
    static_cast<void>(again.open_ended(false, 3));
    CHECK(again.drained() == "take_back parked free_slot");
    CHECK(again.pass(399ms).empty());
    CHECK(again.pass(401ms) == "pause take_back run_close release_lane resume");
}

TEST_CASE("session machine: receive-and-delete fetches nothing before on_session_open returned") {
    SessionBench bench{{.receive_and_delete = true}, true, true};
    static_cast<void>(bench.begin());
    CHECK(bench.credit == 0);
    static_cast<void>(bench.open_ended(true));
    CHECK(bench.credit != 0);
}

TEST_CASE("session machine: on_session_close does not run where on_session_open did not") {
    SessionBench bench{{}, true, true};
    static_cast<void>(bench.begin());
    CHECK(bench.leave(CloseReason::stopped) == "pause drain");
    CHECK(bench.drained() == "take_back close_link let_go free_slot");
    SessionBench unopened{{}, true, true};
    CHECK(unopened.leave(CloseReason::stopped) == "pause take_back close_link let_go free_slot");
    CHECK_FALSE(unopened.opened);
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
    CHECK(bench.feed(&SessionMachine::close_ended) == "close_link let_go free_slot");
    CHECK(bench.feed(&SessionMachine::link_closed) == "finish");
    CHECK(bench.machine.close_reason() == CloseReason::idle);
    CHECK(bench.machine.next() == TimePoint::max());
}

TEST_CASE("session machine: another prefetch asks for more at once, and for less as messages go") {
    SessionBench bench{{.session_idle_timeout = 1h, .prefetch = 4}};
    CHECK(bench.begin() == "opened credit");
    CHECK(bench.credit == 4); // all that was granted
    CHECK(bench.machine.window() == 4);
    CHECK(bench.feed(&SessionMachine::limit, SessionLimits{.idle_timeout = 1h, .prefetch = 10}) ==
          "credit");
    CHECK(bench.credit == 10);
    CHECK(bench.feed(&SessionMachine::limit, SessionLimits{.idle_timeout = 1h, .prefetch = 1})
              .empty()); // the broker has it
    CHECK(bench.machine.window() == 1);
    for (int i = 0; i < 9; ++i) {
        MessageMachine& message = bench.arrive_and_start();
        static_cast<void>(bench.succeed(message));
        CHECK(bench.answer(message) == "dispose"); // nothing new is asked for
    }
    MessageMachine& last = bench.arrive_and_start();
    static_cast<void>(bench.succeed(last));
    CHECK(bench.answer(last) == "dispose credit");
    CHECK(bench.credit == 10 + 1);
    CHECK(bench.feed(&SessionMachine::limit, SessionLimits{.idle_timeout = 1h, .prefetch = 0}) ==
          "credit"); // chosen again
    CHECK(bench.credit == 10 + 32);
}

TEST_CASE("session machine: R1: a changed idle timeout counts from when the session became idle") {
    SessionBench bench{{.session_idle_timeout = 10s}};
    static_cast<void>(bench.begin());
    const TimePoint idle_since = bench.now;
    CHECK(bench.pass(3s).empty());
    CHECK(bench.feed(&SessionMachine::limit, SessionLimits{.idle_timeout = 5s}).empty());
    CHECK(bench.machine.next() == idle_since + 5s);
    CHECK(
        bench.feed(&SessionMachine::limit, SessionLimits{.idle_timeout = Duration::max()}).empty());
    CHECK(bench.machine.next() == TimePoint::max());
    CHECK(bench.feed(&SessionMachine::limit, SessionLimits{.idle_timeout = 2s})
              .empty()); // over already
    CHECK(bench.pass(0s) == "drain");

    SessionBench busy{{.session_idle_timeout = 10s}};
    static_cast<void>(busy.begin());
    MessageMachine& message = busy.arrive_and_start();
    CHECK(
        busy.feed(&SessionMachine::limit, SessionLimits{.idle_timeout = Duration::zero()}).empty());
    CHECK(busy.machine.next() == TimePoint::max()); // a handler runs
    static_cast<void>(busy.succeed(message));
    static_cast<void>(busy.answer(message));
    CHECK(busy.pass(0s) == "drain");
}

TEST_CASE(
    "session machine: R2: a message before the drain's answer takes the session back to work") {
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
    CHECK(bench.drained() == "pause take_back close_link let_go free_slot");
    CHECK(bench.arrive() == "settle:release");
    CHECK(bench.machine.in_flight() == 1);
    CHECK(bench.answer(*bench.settling.front()) == "dispose");
    CHECK(bench.machine.in_flight() == 0);
}

TEST_CASE("session machine: R4: with timeout zero one drain is all a roll needs") {
    SessionBench bench{{.session_idle_timeout = Duration::zero()}};
    CHECK(bench.begin() == "opened credit drain");
    MessageMachine& message = bench.arrive_and_start();
    CHECK(bench.drained().empty());                               // shown empty: no more credit
    CHECK(bench.succeed(message) == "settle:complete free_slot"); // its answer costs no slot
    CHECK(bench.machine.seat() == Seat::settling);
    CHECK_FALSE(bench.settled.try_take());
    CHECK(bench.answer(message) == "dispose");
    CHECK(bench.machine.next() == TimePoint{});
    CHECK(bench.pass(0s) == "pause take_back close_link let_go");
    CHECK(bench.settled.try_take());
}

TEST_CASE("session machine: R4: it keeps its slot where too many settle without one, while "
          "something else is awaited, and for on_session_close") {
    const SessionProcessorOptions options{.max_concurrent_calls_per_session = 2,
                                          .session_idle_timeout = Duration::zero()};
    SessionBench full{options};
    REQUIRE(full.settled.try_take());
    static_cast<void>(full.begin());
    MessageMachine& message = full.arrive_and_start();
    static_cast<void>(full.drained());
    CHECK(full.succeed(message) == "settle:complete");
    CHECK(full.machine.seat() == Seat::slot);
    static_cast<void>(full.answer(message));
    CHECK(full.pass(0s) == "pause take_back close_link let_go free_slot");
    CHECK_FALSE(full.settled.try_take()); // it had no place to give back

    SessionBench busy{options};
    busy.holds = false;
    static_cast<void>(busy.begin());
    MessageMachine& first = busy.arrive_and_start();
    MessageMachine& second = busy.arrive_and_start();
    CHECK(busy.succeed(first) == "settle:complete"); // the drain is not answered
    static_cast<void>(busy.drained());
    CHECK(busy.machine.seat() == Seat::slot); // a handler runs
    CHECK(busy.succeed(second) == "settle:complete free_slot");

    SessionBench closes{options, false, true};
    static_cast<void>(closes.begin());
    MessageMachine& only = closes.arrive_and_start();
    static_cast<void>(closes.drained());
    CHECK(closes.succeed(only) == "settle:complete");
    CHECK(closes.machine.seat() == Seat::slot);
}

TEST_CASE("session machine: R4: a session without a slot that loses its lock frees none again") {
    SessionBench bench{{.session_idle_timeout = Duration::zero()}};
    static_cast<void>(bench.begin());
    MessageMachine& message = bench.arrive_and_start();
    static_cast<void>(bench.drained());
    static_cast<void>(bench.succeed(message));
    CHECK(bench.lose() == "lost lock_over pause take_back drop_link dispose let_go finish");
    CHECK(bench.settled.try_take());
}

TEST_CASE("session machine: R4: credit and drain that went out with the accept are not repeated") {
    SessionBench bench{{.session_idle_timeout = Duration::zero()}};
    CHECK(
        bench.feed(&SessionMachine::given, ports::FirstCredit{.count = 32, .drain = true}).empty());
    CHECK(bench.budget.expected() == 32);
    CHECK(bench.begin() == "opened");
    MessageMachine& message = bench.arrive_and_start();
    CHECK(bench.drained().empty());
    CHECK(bench.budget.expected() == 0);
    CHECK(bench.succeed(message) == "settle:complete free_slot");

    SessionBench waits{{.session_idle_timeout = 1s}};
    static_cast<void>(waits.feed(&SessionMachine::given, ports::FirstCredit{.count = 16}));
    CHECK(waits.begin() == "opened credit"); // what the window has beyond it
    CHECK(waits.credit == 16);
    CHECK(waits.pass(1s) == "drain");
}

TEST_CASE("session machine: R4: a drain that was answered before the session was granted shows "
          "nothing") {
    SessionBench bench{{.session_idle_timeout = Duration::zero()}};
    static_cast<void>(
        bench.feed(&SessionMachine::given, ports::FirstCredit{.count = 32, .drain = true}));
    static_cast<void>(bench.begin());
    SUBCASE("the idle clock is not due yet") {
        CHECK(bench.drained() == "credit");
        CHECK(bench.pass(0s) == "drain");
    }
    SUBCASE("it is due") {
        CHECK(bench.pass(0s).empty());
        CHECK(bench.drained() == "credit drain");
        CHECK(bench.machine.phase() == Phase::idling_out);
    }
    CHECK(bench.drained() == "pause take_back close_link let_go free_slot");
}

TEST_CASE("session machine: R3: the drain goes out ahead, so that its answer is there in time") {
    SessionBench bench{{.session_idle_timeout = 1s}};
    bench.drain_time.answered_in(50ms);
    static_cast<void>(bench.begin());
    CHECK(bench.pass(949ms).empty());
    CHECK(bench.pass(1ms) == "drain");
    CHECK(bench.machine.phase() == Phase::working);
    SUBCASE("shown empty in time, it is left at the timeout") {
        CHECK(bench.pass(49ms).empty());
        CHECK(bench.drained().empty());
        CHECK(bench.machine.next() == bench.now + 1ms);
        CHECK(bench.pass(1ms) == "pause take_back close_link let_go free_slot");
        CHECK(bench.machine.close_reason() == CloseReason::idle);
    }
    SUBCASE("a late answer is awaited") {
        CHECK(bench.pass(50ms).empty());
        CHECK(bench.machine.phase() == Phase::idling_out);
        CHECK(bench.pass(10ms).empty());
        CHECK(bench.drained() == "pause take_back close_link let_go free_slot");
    }
    SUBCASE("a message takes it back to work") {
        CHECK(bench.pass(40ms).empty());
        MessageMachine& message = bench.arrive_and_start();
        CHECK(bench.drained() == "credit");
        CHECK(bench.pass(2s).empty());
        static_cast<void>(bench.succeed(message));
        CHECK(bench.answer(message) == "dispose");
        CHECK(bench.machine.next() == bench.now + 960ms); // it took less this time
    }
    SUBCASE("a longer timeout gives credit again") {
        CHECK(bench.drained().empty());
        CHECK(bench.feed(&SessionMachine::limit, SessionLimits{.idle_timeout = 5s}) == "credit");
        CHECK(bench.machine.next() > bench.now + 3s);
    }
}

TEST_CASE("session machine: R3: where the timeout is shorter than the way to the broker, the drain "
          "follows the credit") {
    SessionBench bench{{.session_idle_timeout = 10ms}};
    bench.drain_time.answered_in(50ms);
    CHECK(bench.begin() == "opened credit");
    CHECK(bench.pass(0ms) == "drain");
    CHECK(bench.pass(10ms).empty());
    CHECK(bench.drained() == "pause take_back close_link let_go free_slot");
}

TEST_CASE("session machine: R1: nothing starts while handlers of an earlier lock run") {
    SessionBench bench;
    static_cast<void>(bench.feed(&SessionMachine::given, ports::FirstCredit{.count = 4}));
    CHECK(bench.feed(&SessionMachine::hold_back) == "pause");
    CHECK(bench.arrive() == "enqueue");
    CHECK(bench.feed(&SessionMachine::let_in) == "resume opened credit");
    CHECK(bench.machine.next() == TimePoint::max()); // the idle clock does not run
    CHECK(bench.feed(&SessionMachine::let_in).empty());

    SessionBench left;
    static_cast<void>(left.feed(&SessionMachine::given, ports::FirstCredit{.count = 4}));
    static_cast<void>(left.feed(&SessionMachine::hold_back));
    static_cast<void>(left.arrive());
    CHECK(left.leave(CloseReason::stopped) == "pause drain");
    CHECK(left.feed(&SessionMachine::let_in).empty());
    CHECK(left.drained() == "take_back settle:release free_slot");
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
    CHECK(bench.succeed(running) == "settle:complete free_slot");
    CHECK(bench.answer(running) == "dispose close_link let_go");
}

TEST_CASE("session machine: a handler that fails while the session is left goes back after what "
          "was behind it") {
    SessionBench bench;
    static_cast<void>(bench.begin());
    MessageMachine& running = bench.arrive_and_start();
    static_cast<void>(bench.arrive());
    static_cast<void>(bench.leave(CloseReason::stopped));
    CHECK(bench.fail(running).empty());
    CHECK(bench.drained() == "take_back settle:release settle:abandon free_slot");
}

TEST_CASE("session machine: receive-and-delete handles what arrived before it leaves") {
    SessionBench bench{{.receive_and_delete = true}};
    static_cast<void>(bench.begin());
    static_cast<void>(bench.arrive());
    CHECK(bench.leave(CloseReason::stopped) == "drain");
    CHECK(bench.drained().empty());
    CHECK(bench.succeed(bench.start()) == "dispose close_link let_go free_slot");
}

TEST_CASE(
    "session machine: R9: the rest of the session is dead-lettered, then it is left for that") {
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
    CHECK(bench.drained() == "pause take_back close_link let_go free_slot");
    CHECK(bench.machine.close_reason() == CloseReason::dead_lettered);
}

TEST_CASE("session machine: R25: parked, it gives up its slot and keeps what failed") {
    SessionBench bench{
        {.max_hold = 5s, .failure_policy = FailurePolicy::park_session(10s)}, false, true};
    static_cast<void>(bench.begin());
    MessageMachine& failed = bench.arrive_and_start();
    static_cast<void>(bench.arrive());
    CHECK(bench.fail(failed) == "pause drain");
    CHECK(bench.machine.phase() == Phase::parked);
    CHECK(bench.arrive() == "enqueue"); // on the credit that is drained
    CHECK(bench.machine.seat() == Seat::slot);
    CHECK(bench.drained() == "take_back settle:release settle:release parked free_slot");
    CHECK(bench.machine.seat() == Seat::parked);
    CHECK(bench.answer(*bench.settling.front()) == "dispose");
    CHECK(bench.answer(*bench.settling.front()) == "dispose");
    CHECK(bench.machine.in_flight() == 1);          // what failed
    CHECK(bench.machine.next() == bench.now + 10s); // max_hold is about a slot
    CHECK_FALSE(bench.parked.try_take());
    CHECK(bench.pass(10s) == "pause take_back settle:abandon");
    CHECK(bench.answer(*bench.settling.front()) == "dispose run_close release_lane resume");
    CHECK(bench.feed(&SessionMachine::close_ended) == "close_link let_go");
    CHECK(bench.machine.close_reason() == CloseReason::parked);
    CHECK(bench.machine.seat() == Seat::slot);
    CHECK(bench.parked.try_take());
}

TEST_CASE("session machine: where too many are parked already, it is parked in its slot") {
    SessionBench bench{{.failure_policy = FailurePolicy::park_session(10s)}};
    REQUIRE(bench.parked.try_take());
    static_cast<void>(bench.begin());
    CHECK(bench.fail(bench.arrive_and_start()) == "pause drain");
    CHECK_FALSE(bench.machine.is_leaving());
    CHECK(bench.drained() == "take_back");
    CHECK(bench.machine.seat() == Seat::slot);
    CHECK(bench.pass(10s) == "pause take_back settle:abandon free_slot");
    CHECK(bench.answer(*bench.settling.front()) == "dispose close_link let_go");
    CHECK(bench.machine.close_reason() == CloseReason::parked);
    CHECK_FALSE(bench.parked.try_take()); // it had no place to give back
}

TEST_CASE("session machine: R25: parked, it keeps its slot while a handler of it runs") {
    SessionBench bench{{.max_concurrent_calls_per_session = 3,
                        .failure_policy = FailurePolicy::park_session(10s)}};
    static_cast<void>(bench.begin());
    MessageMachine& failed = bench.arrive_and_start();
    MessageMachine& other = bench.arrive_and_start();
    MessageMachine& last = bench.arrive_and_start();
    static_cast<void>(bench.fail(failed));
    CHECK(bench.drained() == "take_back");
    CHECK(bench.fail(other).empty());
    CHECK(bench.succeed(last) == "settle:complete parked free_slot");
}

TEST_CASE("session machine: R25: parked, a message that no handler has begun goes back") {
    SessionBench bench{{.max_concurrent_calls_per_session = 3,
                        .failure_policy = FailurePolicy::park_session(10s)}};
    static_cast<void>(bench.begin());
    MessageMachine& failed = bench.arrive_and_start();
    MessageMachine& early = bench.arrive_and_start();
    MessageMachine& late = bench.arrive_and_start();
    static_cast<void>(bench.fail(failed));
    // Workers took these before the lane was paused, and return them.
    CHECK(bench.end(early, {.ending = detail::processor::Ending::not_started}) ==
          "pause put_back"); // it would come again on the credit that is drained
    CHECK(bench.drained() == "take_back settle:release");
    CHECK(bench.end(late, {.ending = detail::processor::Ending::not_started}) ==
          "settle:release parked free_slot");
    CHECK(bench.machine.seat() == Seat::parked);
}

TEST_CASE("session machine: R25: parked, its lock may be lost; its slot is freed once") {
    SessionBench bench{{.failure_policy = FailurePolicy::park_session(10s)}};
    static_cast<void>(bench.begin());
    static_cast<void>(bench.fail(bench.arrive_and_start()));
    CHECK(bench.drained() == "take_back parked free_slot");
    CHECK(bench.lose() == "lost lock_over pause take_back drop_link dispose let_go finish");
    CHECK(bench.parked.try_take());

    SessionBench early{{.failure_policy = FailurePolicy::park_session(10s)}};
    static_cast<void>(early.begin());
    static_cast<void>(early.fail(early.arrive_and_start()));
    CHECK(early.lose() ==
          "lost lock_over pause take_back drop_link dispose let_go free_slot finish");
}

TEST_CASE("session machine: R25: a parking that ends before the drain's answer waits for it") {
    SessionBench bench{{.failure_policy = FailurePolicy::park_session(0s)}};
    static_cast<void>(bench.begin());
    static_cast<void>(bench.fail(bench.arrive_and_start()));
    CHECK(bench.pass(0s) == "pause");
    CHECK(bench.drained() == "take_back settle:abandon");
}

TEST_CASE(
    "session machine: R13: a lost lock forgets what waits, waits for what runs, is told once") {
    SessionBench bench{{}, false, true};
    static_cast<void>(bench.begin());
    MessageMachine& running = bench.arrive_and_start();
    static_cast<void>(bench.arrive());
    CHECK(bench.lose() == "lost lock_over pause take_back dispose");
    CHECK(bench.lose(Errc::connection_lost).empty());
    CHECK(bench.machine.close_reason() == CloseReason::lock_lost);
    CHECK(bench.arrive() == "dispose"); // R8: nothing is settled any more
    CHECK(bench.succeed(running) == "dispose drop_link run_close resume");
    CHECK(bench.feed(&SessionMachine::close_ended) == "let_go free_slot finish");
}

TEST_CASE("session machine: a lock lost by an answer is dealt with by the next turn") {
    SessionBench bench;
    static_cast<void>(bench.begin());
    MessageMachine& message = bench.arrive_and_start();
    static_cast<void>(bench.succeed(message));
    CHECK(bench.answer(message, &taken) == "dispose");
    CHECK(bench.machine.next() == TimePoint{});
    CHECK(bench.pass(0s) == "lost lock_over pause take_back drop_link let_go free_slot finish");
}

TEST_CASE("session machine: R15: unanswered settlements, drains and closes are bounded") {
    SessionBench settling;
    static_cast<void>(settling.begin());
    MessageMachine& message = settling.arrive_and_start();
    static_cast<void>(settling.succeed(message));
    CHECK(
        settling.pass(30s).starts_with("silent lost lock_over pause take_back drop_link dispose"));

    SessionBench draining{{.session_idle_timeout = 1s}};
    static_cast<void>(draining.begin());
    CHECK(draining.pass(1s) == "drain");
    CHECK(draining.pass(5s) == "pause take_back close_link let_go free_slot");
    CHECK(draining.pass(5s) == "drop_link finish");

    SessionBench rewinding;
    static_cast<void>(rewinding.begin());
    static_cast<void>(rewinding.fail(rewinding.arrive_and_start()));
    CHECK(rewinding.pass(5s) == "pause take_back settle:abandon");
    CHECK(rewinding.machine.close_reason() == CloseReason::unresponsive);
}

TEST_CASE("session machine: R15: an answer to one settlement gives the others their time again") {
    SessionBench bench{{.max_concurrent_calls_per_session = 2}};
    static_cast<void>(bench.begin());
    MessageMachine& first = bench.arrive_and_start();
    MessageMachine& second = bench.arrive_and_start();
    const TimePoint start = bench.now;
    static_cast<void>(bench.succeed(first));
    static_cast<void>(bench.succeed(second));
    CHECK(bench.machine.next() == start + 30s);
    CHECK(bench.pass(29s).empty());
    CHECK(bench.answer(first) == "dispose");
    CHECK(bench.machine.next() == start + 30s); // no timer moves with every answer
    CHECK(bench.pass(1s).empty());
    CHECK(bench.machine.next() == start + 59s);
    CHECK(bench.pass(29s).starts_with("silent lost"));
}

TEST_CASE("session machine: R15: of several overdue answers the one that ends it soonest counts") {
    SessionBench closing{{.session_idle_timeout = 1s}};
    static_cast<void>(closing.begin());
    static_cast<void>(closing.pass(1s));
    static_cast<void>(closing.drained());
    static_cast<void>(closing.arrive()); // too late: released
    CHECK(closing.pass(1h) == "drop_link dispose finish");

    SessionBench draining;
    static_cast<void>(draining.begin());
    static_cast<void>(draining.succeed(draining.arrive_and_start()));
    CHECK(draining.leave(CloseReason::released) == "pause drain");
    CHECK(draining.pass(1h).starts_with("silent lost"));
}

TEST_CASE("session machine: R11, R13: a lock is renewed, then warned of, then lost") {
    SessionBench bench{{.session_idle_timeout = 1h, .max_lock_renewal = 5s}};
    const core::Result<ports::LockGrant> grant{{.length = 20s}};
    CHECK(bench.feed(&SessionMachine::locked, bench.now, grant.value()) == "show");
    static_cast<void>(bench.begin());
    CHECK(bench.machine.next() == bench.now + 10s);
    CHECK(bench.pass(10s) == "renew");
    CHECK(bench.feed(&SessionMachine::renewed, bench.now, grant) == "show");
    CHECK(bench.feed(&SessionMachine::lock_uncertain).empty());
    CHECK(bench.pass(0s) == "renew");
    CHECK(bench.feed(&SessionMachine::renewed, bench.now, grant) == "show");
    static_cast<void>(bench.arrive_and_start());
    CHECK(bench.pass(10s).empty()); // its handler makes no progress: the lock is not renewed
    CHECK(bench.feed(&SessionMachine::progressed) == "renew");
    CHECK(bench.pass(8s) == "warn pause drain");
    CHECK(bench.machine.close_reason() == CloseReason::lock_lost);
    CHECK(bench.pass(2s).starts_with("expired lost lock_over"));
    CHECK(bench.feed(&SessionMachine::renewed, bench.now, grant).empty()); // too late
}

TEST_CASE("session machine: R13: a lock that ends because of max_lock_renewal says so, once") {
    SessionBench bench{{.session_idle_timeout = 1h, .max_lock_renewal = 5s}};
    CHECK(bench.feed(&SessionMachine::locked, bench.now, ports::LockGrant{.length = 20s}) ==
          "show");
    static_cast<void>(bench.begin());
    static_cast<void>(bench.arrive_and_start());
    CHECK(bench.pass(18s) == "warn slow pause drain");
    CHECK(bench.pass(2s).starts_with("lost lock_over"));
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

    SessionBench endless{{.max_hold = Duration::max()}};
    static_cast<void>(endless.begin());
    static_cast<void>(endless.arrive_and_start());
    CHECK(endless.pass(1s).empty());

    SessionBench turn{{.max_messages_per_turn = 1}};
    static_cast<void>(turn.begin());
    MessageMachine& message = turn.arrive_and_start();
    CHECK(turn.succeed(message) == "settle:complete pause take_back free_slot");
    CHECK(turn.machine.close_reason() == CloseReason::max_messages);
}

namespace {

/// A bench in one phase, and the messages that inputs are about.
struct Scene {
    SessionBench bench;
    MessageMachine stray{};            ///< one that the session does not know
    MessageMachine* running{&stray};   ///< one whose handler runs, if there can be one
    MessageMachine* answering{&stray}; ///< one that waits for the broker, if there can be one

    explicit Scene(SessionProcessorOptions options = {.session_idle_timeout = 1s},
                   bool has_open = false, bool has_close = false)
        : bench{std::move(options), has_open, has_close} {}
};

using ScenePtr = std::unique_ptr<Scene>;

ScenePtr working() {
    auto scene = std::make_unique<Scene>(
        SessionProcessorOptions{.max_concurrent_calls_per_session = 2, .session_idle_timeout = 1s});
    scene->bench.holds = true;
    static_cast<void>(scene->bench.begin());
    scene->running = &scene->bench.arrive_and_start();
    scene->answering = &scene->bench.arrive_and_start();
    static_cast<void>(scene->bench.succeed(*scene->answering));
    return scene;
}

ScenePtr closing(bool has_close) {
    auto scene = std::make_unique<Scene>(SessionProcessorOptions{.session_idle_timeout = 1s}, false,
                                         has_close);
    static_cast<void>(scene->bench.begin());
    static_cast<void>(scene->bench.pass(1s));
    static_cast<void>(scene->bench.drained());
    static_cast<void>(scene->bench.arrive()); // too late: released
    scene->answering = scene->bench.settling.front();
    return scene;
}

ScenePtr reach(Phase phase) {
    switch (phase) {
    case Phase::held_back: return std::make_unique<Scene>();
    case Phase::opening: {
        auto scene = std::make_unique<Scene>(SessionProcessorOptions{}, true);
        static_cast<void>(scene->bench.begin());
        scene->bench.opening = false; // it runs
        return scene;
    }
    case Phase::working: return working();
    case Phase::parked: {
        auto scene = std::make_unique<Scene>(
            SessionProcessorOptions{.max_concurrent_calls_per_session = 3,
                                    .session_idle_timeout = 1s,
                                    .failure_policy = FailurePolicy::park_session(10s)});
        static_cast<void>(scene->bench.begin());
        MessageMachine& parks = scene->bench.arrive_and_start();
        scene->running = &scene->bench.arrive_and_start();
        scene->answering = &scene->bench.arrive_and_start();
        static_cast<void>(scene->bench.succeed(*scene->answering));
        static_cast<void>(scene->bench.fail(parks));
        return scene;
    }
    case Phase::idling_out: {
        auto scene = std::make_unique<Scene>();
        static_cast<void>(scene->bench.begin());
        static_cast<void>(scene->bench.pass(1s));
        scene->running = &scene->bench.arrive_and_start();
        scene->answering = &scene->bench.arrive_and_start();
        static_cast<void>(scene->bench.succeed(*scene->answering));
        return scene;
    }
    case Phase::rewinding:
    case Phase::putting_back: {
        ScenePtr scene = working();
        static_cast<void>(scene->bench.fail(scene->bench.arrive_and_start()));
        if (phase == Phase::putting_back) {
            static_cast<void>(scene->bench.drained());
        }
        return scene;
    }
    case Phase::draining:
    case Phase::leaving: {
        ScenePtr scene = working();
        static_cast<void>(scene->bench.leave(CloseReason::released));
        if (phase == Phase::leaving) {
            static_cast<void>(scene->bench.drained());
        }
        return scene;
    }
    case Phase::closing_call: return closing(true);
    case Phase::closing_link: return closing(false);
    case Phase::finished: {
        ScenePtr scene = closing(false);
        static_cast<void>(scene->bench.answer(*scene->answering));
        scene->answering = &scene->stray;
        static_cast<void>(scene->bench.feed(&SessionMachine::link_closed));
        return scene;
    }
    }
    return nullptr;
}

using SceneInput = std::function<std::string(Scene&)>;

const std::vector<std::pair<std::string, SceneInput>>& scene_inputs() {
    static const std::vector<std::pair<std::string, SceneInput>> inputs{
        {"begin", [](Scene& s) { return s.bench.begin(); }},
        {"let in", [](Scene& s) { return s.bench.feed(&SessionMachine::let_in); }},
        {"open ended", [](Scene& s) { return s.bench.open_ended(true); }},
        {"open failed", [](Scene& s) { return s.bench.open_ended(false); }},
        {"arrived", [](Scene& s) { return s.bench.arrive(); }},
        {"decided",
         [](Scene& s) {
             return s.bench.feed(&SessionMachine::decided, *s.running, ports::Outcome::complete);
         }},
        {"returned", [](Scene& s) { return s.bench.succeed(*s.running); }},
        {"threw", [](Scene& s) { return s.bench.fail(*s.running); }},
        {"answered", [](Scene& s) { return s.bench.answer(*s.answering); }},
        {"refused", [](Scene& s) { return s.bench.answer(*s.answering, &busy); }},
        {"drained", [](Scene& s) { return s.bench.drained(); }},
        {"leave", [](Scene& s) { return s.bench.leave(CloseReason::stopped); }},
        {"lose", [](Scene& s) { return s.bench.lose(); }},
        {"give up", [](Scene& s) { return s.bench.feed(&SessionMachine::give_up); }},
        {"close ended", [](Scene& s) { return s.bench.feed(&SessionMachine::close_ended); }},
        {"link closed", [](Scene& s) { return s.bench.feed(&SessionMachine::link_closed); }},
        {"limit calls", [](Scene& s) { return s.bench.feed(&SessionMachine::limit_calls, 5); }},
        {"due", [](Scene& s) { return s.bench.pass(31s); }},
        {"progressed", [](Scene& s) { return s.bench.feed(&SessionMachine::progressed); }},
        {"uncertain", [](Scene& s) { return s.bench.feed(&SessionMachine::lock_uncertain); }},
        {"renewed",
         [](Scene& s) {
             return s.bench.feed(&SessionMachine::renewed, s.bench.now,
                                 core::Result<ports::LockGrant>{ports::LockGrant{}});
         }},
        {"limit",
         [](Scene& s) {
             return s.bench.feed(&SessionMachine::limit, SessionLimits{.idle_timeout = 2s});
         }},
        {"examined",
         [](Scene& s) {
             return s.bench.feed(&SessionMachine::examined,
                                 core::Result<std::optional<Duration>>{Duration{5s}},
                                 detail::processor::NotedAttempts{});
         }},
        {"recorded", [](Scene& s) { return s.bench.feed(&SessionMachine::delay_kept); }},
    };
    return inputs;
}

} // namespace

namespace {

/// The effects of the actions that other parts see, whatever their order. How the lane is led there
/// is the machine's own affair; `check_lane` holds the rule.
std::string effects_of(const std::string& actions) {
    static const std::set<std::string> inner{"pause",     "resume", "release_lane", "limit",
                                             "take_back", "show",   "put_back",     "dispose",
                                             "opened",    "parked", "let_go",       "end_turn"};
    std::istringstream words{actions};
    std::set<std::string> effects;
    for (std::string word; words >> word;) {
        if (!inner.contains(word)) {
            effects.insert(word);
        }
    }
    std::string text;
    for (const std::string& each : effects) {
        text.append(" ").append(each);
    }
    return text;
}

/// R2, R13: a session that is parked, goes back or is left starts nothing. on_session_close does.
void check_lane(const SessionBench& bench) {
    const Phase phase = bench.machine.phase();
    if (phase == Phase::parked || phase == Phase::draining || phase == Phase::leaving) {
        CHECK(bench.paused);
        CHECK((bench.lane.empty() || phase != Phase::leaving));
    }
    if (phase == Phase::working || phase == Phase::closing_call) {
        CHECK_FALSE(bench.paused);
    }
}

} // namespace

TEST_CASE("session machine: every input in every phase") {
    // Unreachable: a handler or an answer in a phase that has no message. There the message is one
    // that the session does not know, and the cell says that the machine does nothing.
    static const char* const expected[12][24] = {
#include "unit/processor/session/session_machine_cells.inc"
    };
    const auto& inputs = scene_inputs();
    std::vector<std::string> phases;
    std::vector<std::string> names;
    for (std::size_t phase = 0; phase < 12; ++phase) {
        phases.emplace_back(name_of(static_cast<Phase>(phase)));
    }
    for (const auto& [name, input] : inputs) {
        names.push_back(name);
    }
    test::PhaseTable table{"session machine", std::move(phases), std::move(names)};
    for (std::size_t phase = 0; phase < 12; ++phase) {
        for (std::size_t input = 0; input < inputs.size(); ++input) {
            const ScenePtr scene = reach(static_cast<Phase>(phase));
            CAPTURE(name_of(static_cast<Phase>(phase)));
            CAPTURE(inputs[input].first);
            REQUIRE(scene->bench.machine.phase() == static_cast<Phase>(phase));
            const std::string effects = effects_of(inputs[input].second(*scene));
            check_lane(scene->bench);
            const std::string cell =
                std::string{name_of(scene->bench.machine.phase())} + ":" + effects;
            CHECK(cell == expected[phase][input]);
            table.reached(phase, input);
        }
    }
    table.print();
    CHECK(table.missing().empty());
}

TEST_CASE("session machine: a message that loses its own lock goes alone") {
    SessionBench bench{
        {.max_concurrent_calls_per_session = 2, .session_idle_timeout = Duration::max()},
        false,
        false,
        false};
    static_cast<void>(bench.begin());
    detail::processor::MessageMachine& lost = bench.arrive_and_start();
    detail::processor::MessageMachine& late = bench.arrive_and_start();
    CHECK(bench.end(lost, {.lock_over = true}).find("settle") == std::string::npos);
    CHECK(bench.succeed(late) == "settle:complete");
    static_cast<void>(bench.answer(late, &taken)); // lost meanwhile
    static_cast<void>(bench.pass(0s));
    CHECK(bench.machine.phase() == SessionMachine::Phase::working);
    CHECK(bench.machine.in_flight() == 0);
}

TEST_CASE("session machine: without an order to keep, a failed message holds up no other") {
    SessionBench bench{{.session_idle_timeout = Duration::max()}, false, false, false};
    static_cast<void>(bench.begin());
    detail::processor::MessageMachine& failed = bench.arrive_and_start();
    static_cast<void>(bench.arrive());
    CHECK(bench.end(failed, {.ending = detail::processor::Ending::failed}) == "settle:abandon");
    CHECK_FALSE(bench.draining);
    CHECK(bench.lane.size() == 1);
}
