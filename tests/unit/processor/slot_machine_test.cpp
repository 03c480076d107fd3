#include "processor/slot_machine.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;
using processor::SlotActions;
using processor::SlotMachine;
using Phase = SlotMachine::Phase;

namespace {

struct Fixture {
    SlotMachine slot{BackoffOptions{.min = 100ms, .max = 1s}};
    core::Random random{3};

    void accepting() {
        CHECK(slot.start().start_accept);
        CHECK(slot.phase() == Phase::accepting);
    }
    void holding() {
        accepting();
        CHECK(slot.accepted().open_session);
        CHECK(slot.phase() == Phase::holding);
    }
};

bool is_nothing(const SlotActions& actions) {
    return !actions.start_accept && !actions.cancel_accept && !actions.open_session &&
           !actions.leave_session && !actions.wait && !actions.report_failure;
}

} // namespace

TEST_CASE_FIXTURE(Fixture,
                  "slot machine: accepts, holds and rolls to the next session at once (R4)") {
    CHECK(slot.phase() == Phase::vacant);
    holding();
    for (const CloseReason reason :
         {CloseReason::idle, CloseReason::released, CloseReason::max_hold,
          CloseReason::max_messages, CloseReason::parked, CloseReason::dead_lettered}) {
        CAPTURE(to_string(reason));
        const SlotActions actions = slot.session_left(reason, std::nullopt, Duration{}, random);
        CHECK(actions.start_accept);
        CHECK_FALSE(actions.wait);
        CHECK(slot.accepted().open_session);
    }
    CHECK(slot.failures() == 0);
}

TEST_CASE_FIXTURE(Fixture, "slot machine: starting twice accepts once") {
    accepting();
    CHECK(is_nothing(slot.start()));
}

TEST_CASE_FIXTURE(Fixture,
                  "slot machine: R5: no session available is neither failure nor backoff") {
    accepting();
    for (int i = 0; i < 100; ++i) {
        const SlotActions actions = slot.accept_failed(Errc::no_session_available, 60s, random);
        CHECK(actions.start_accept);
        CHECK_FALSE(actions.report_failure);
        CHECK_FALSE(actions.wait);
    }
    CHECK(slot.failures() == 0);
}

TEST_CASE_FIXTURE(
    Fixture,
    "slot machine: R17: answers of no session that come at once are spaced, always by the same") {
    accepting();
    for (int i = 0; i < 10; ++i) {
        const SlotActions actions = slot.accept_failed(Errc::no_session_available, 30ms, random);
        CHECK(actions.wait);
        CHECK(actions.delay == SlotMachine::min_accept_interval - 30ms);
        CHECK_FALSE(actions.report_failure);
        CHECK(slot.phase() == Phase::backing_off);
        CHECK(slot.wait_over().start_accept);
    }
    CHECK(slot.accept_failed(Errc::no_session_available, SlotMachine::min_accept_interval, random)
              .start_accept);
}

TEST_CASE_FIXTURE(Fixture,
                  "slot machine: R17: an accept that fails is told and waits longer each time") {
    accepting();
    Duration longest = 100ms;
    for (std::uint32_t i = 1; i <= 6; ++i) {
        const SlotActions actions = slot.accept_failed(Errc::server_busy, 0s, random);
        CHECK(actions.report_failure);
        CHECK(actions.wait);
        CHECK_FALSE(actions.start_accept);
        CHECK(actions.delay >= longest / 2);
        CHECK(actions.delay <= longest);
        CHECK(slot.failures() == i);
        CHECK(slot.wait_over().start_accept);
        longest = std::min<Duration>(longest * 2, 1s);
    }
}

TEST_CASE_FIXTURE(Fixture, "slot machine: a connection that cannot be made is waited for by the "
                           "port, not by the slot on top of it") {
    accepting();
    for (std::uint32_t i = 1; i <= 20; ++i) {
        CAPTURE(i);
        const SlotActions late =
            slot.accept_failed(Errc::connection_refused, 30s, random); // the port's own wait
        CHECK(late.report_failure);
        CHECK(late.start_accept);
        CHECK(slot.failures() == i); // a watchdog sees them
    }
    const SlotActions soon =
        slot.accept_failed(Errc::connection_refused, 10ms, random); // R17: whatever the port does
    CHECK(soon.wait);
    CHECK(soon.delay == SlotMachine::min_accept_interval - 10ms);
    CHECK(slot.wait_over().start_accept);
    CHECK(slot.accepted().open_session);
    CHECK(slot.failures() == 0);
    const SlotActions lost =
        slot.session_left(CloseReason::connection_lost, std::nullopt, 1s, random);
    CHECK(lost.delay <= 100ms); // what went before does not count
}

TEST_CASE_FIXTURE(
    Fixture,
    "slot machine: an accept that was cancelled by the other side waits, and is told to nobody") {
    accepting();
    const SlotActions actions = slot.accept_failed(Errc::cancelled, 0s, random);
    CHECK(actions.wait);
    CHECK_FALSE(actions.report_failure);
}

TEST_CASE_FIXTURE(
    Fixture, "slot machine: R17: leaving by a fault waits before the next accept, also in a row") {
    holding();
    std::uint32_t failures = 0;
    for (const CloseReason reason : {CloseReason::open_failed, CloseReason::lock_lost,
                                     CloseReason::connection_lost, CloseReason::unresponsive}) {
        CAPTURE(to_string(reason));
        CHECK(processor::is_fault(reason));
        const SlotActions actions = slot.session_left(reason, std::nullopt, Duration{}, random);
        CHECK(actions.wait);
        CHECK(actions.delay > Duration::zero());
        CHECK(slot.failures() == ++failures);
        CHECK(slot.wait_over().start_accept);
        CHECK(slot.accepted().open_session);
    }
    CHECK(slot.session_left(CloseReason::idle, std::nullopt, Duration{}, random).start_accept);
    CHECK(slot.failures() == 0);
}

TEST_CASE_FIXTURE(Fixture, "slot machine: a broker that answers again ends the row of failures, "
                           "whether it has a session or not") {
    accepting();
    static_cast<void>(slot.accept_failed(Errc::connection_refused, 0s, random));
    static_cast<void>(slot.wait_over());
    static_cast<void>(slot.accept_failed(Errc::server_busy, 0s, random));
    static_cast<void>(slot.wait_over());
    static_cast<void>(slot.accept_failed(Errc::no_session_available, 60s, random));
    CHECK(slot.failures() == 0);
}

TEST_CASE_FIXTURE(Fixture, "slot machine: R16: an accept that is never answered is given up, told "
                           "and repeated after a backoff") {
    accepting();
    const SlotActions actions = slot.accept_overdue(random);
    CHECK(actions.cancel_accept);
    CHECK(actions.report_failure);
    CHECK(actions.wait);
    CHECK(slot.phase() == Phase::backing_off);
    CHECK(slot.wait_over().start_accept);
}

TEST_CASE_FIXTURE(Fixture, "slot machine: a starved slot waits to be started") {
    accepting();
    slot.starved();
    CHECK(slot.phase() == Phase::vacant);
    CHECK(is_nothing(slot.wait_over()));
    CHECK(slot.start().start_accept);
}

TEST_CASE_FIXTURE(Fixture, "slot machine: R18: stopping a vacant slot") {
    CHECK(is_nothing(slot.stop()));
    CHECK(slot.phase() == Phase::stopped);
    CHECK(is_nothing(slot.start()));
}

TEST_CASE_FIXTURE(Fixture, "slot machine: R19: stopping gives an accept under way up") {
    accepting();
    const SlotActions actions = slot.stop();
    CHECK(actions.cancel_accept);
    CHECK_FALSE(actions.leave_session);
    CHECK(slot.phase() == Phase::stopped);
    CHECK(is_nothing(slot.stop()));
}

TEST_CASE_FIXTURE(
    Fixture, "slot machine: R18: stopping leaves the session, after which nothing is accepted") {
    holding();
    const SlotActions actions = slot.stop();
    CHECK(actions.leave_session);
    CHECK_FALSE(actions.cancel_accept);
    CHECK(slot.phase() == Phase::holding);
    CHECK(slot.stopping());
    CHECK(is_nothing(slot.stop()));
    CHECK(is_nothing(slot.session_left(CloseReason::stopped, std::nullopt, Duration{}, random)));
    CHECK(slot.phase() == Phase::stopped);
}

TEST_CASE_FIXTURE(Fixture, "slot machine: R18: stopping a slot that backs off ends it") {
    accepting();
    static_cast<void>(slot.accept_failed(Errc::unauthorized, 0s, random));
    CHECK(is_nothing(slot.stop()));
    CHECK(is_nothing(slot.wait_over()));
    CHECK(slot.phase() == Phase::stopped);
}

TEST_CASE("slot machine: only faults are faults") {
    for (const CloseReason reason :
         {CloseReason::idle, CloseReason::released, CloseReason::stopped, CloseReason::max_hold,
          CloseReason::max_messages, CloseReason::limit_lowered, CloseReason::parked,
          CloseReason::dead_lettered}) {
        CHECK_FALSE(processor::is_fault(reason));
    }
}

TEST_CASE(
    "slot: R17: a session that brought no message is spaced like an answer without a session") {
    core::Random random{1};
    SlotMachine slot{BackoffOptions{}};
    CHECK(slot.start().start_accept);
    CHECK(slot.accepted().open_session);
    const SlotActions soon = slot.session_left(CloseReason::idle, 1ms, 1ms, random);
    CHECK_FALSE(soon.start_accept);
    CHECK(soon.wait);
    CHECK(soon.delay == SlotMachine::min_accept_interval - 1ms);
    CHECK(slot.wait_over().start_accept);
    CHECK(slot.accepted().open_session);
    CHECK(slot.session_left(CloseReason::idle, 1s, 1s, random).start_accept);
}

TEST_CASE("slot machine: R17: losses of sessions held for long do not add up, short ones do") {
    core::Random random{1};
    SlotMachine slot{{.min = 100ms, .max = 10s}};
    const auto lose_after = [&](Duration held) {
        static_cast<void>(slot.start());
        static_cast<void>(slot.wait_over());
        static_cast<void>(slot.accepted());
        return slot.session_left(CloseReason::connection_lost, std::nullopt, held, random).delay;
    };
    for (int i = 0; i < 5; ++i) {
        CHECK(lose_after(10s) <= 100ms);
    }
    for (int i = 0; i < 5; ++i) { // long beside a wait of 100 ms
        CHECK(lose_after(2s) <= 100ms);
    }
    static_cast<void>(lose_after(900ms));
    static_cast<void>(lose_after(900ms));
    CHECK(lose_after(900ms) >= 200ms);
    CHECK(lose_after(2s) >= 400ms); // no longer long beside it
    CHECK(lose_after(10s) <= 100ms);
}
