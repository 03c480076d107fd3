#include "processor/slot_machine.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "support/phase_table.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using processor::SlotActions;
using processor::SlotMachine;
using Phase = SlotMachine::Phase;

namespace {

struct Fixture {
    core::Random random{3};
    SlotMachine slot{BackoffOptions{.min = 100ms, .max = 1s}, random};

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
        const SlotActions actions = slot.session_left(reason, std::nullopt, Duration{});
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
        const SlotActions actions = slot.accept_failed(Errc::no_session_available, 60s);
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
        const SlotActions actions = slot.accept_failed(Errc::no_session_available, 30ms);
        CHECK(actions.wait);
        CHECK(actions.delay == SlotMachine::min_accept_interval - 30ms);
        CHECK_FALSE(actions.report_failure);
        CHECK(slot.phase() == Phase::backing_off);
        CHECK(slot.due().start_accept);
    }
    CHECK(slot.accept_failed(Errc::no_session_available, SlotMachine::min_accept_interval)
              .start_accept);
}

TEST_CASE_FIXTURE(Fixture,
                  "slot machine: R17: an accept that fails is told and waits longer each time") {
    accepting();
    Duration longest = 100ms;
    for (std::uint32_t i = 1; i <= 6; ++i) {
        const SlotActions actions = slot.accept_failed(Errc::server_busy, 0s);
        CHECK(actions.report_failure);
        CHECK(actions.wait);
        CHECK_FALSE(actions.start_accept);
        CHECK(actions.delay >= longest / 2);
        CHECK(actions.delay <= longest);
        CHECK(slot.failures() == i);
        CHECK(slot.due().start_accept);
        longest = std::min<Duration>(longest * 2, 1s);
    }
}

TEST_CASE_FIXTURE(Fixture, "slot machine: a connection that cannot be made is waited for by the "
                           "port, not by the slot on top of it") {
    accepting();
    for (std::uint32_t i = 1; i <= 20; ++i) {
        CAPTURE(i);
        const SlotActions late =
            slot.accept_failed(Errc::connection_refused, 30s); // the port's own wait
        CHECK(late.report_failure);
        CHECK(late.start_accept);
        CHECK(slot.failures() == i); // a watchdog sees them
    }
    const SlotActions soon =
        slot.accept_failed(Errc::connection_refused, 10ms); // R17: whatever the port does
    CHECK(soon.wait);
    CHECK(soon.delay == SlotMachine::min_accept_interval - 10ms);
    CHECK(slot.due().start_accept);
    CHECK(slot.accepted().open_session);
    CHECK(slot.failures() == 0);
    const SlotActions lost = slot.session_left(CloseReason::connection_lost, std::nullopt, 1s);
    CHECK(lost.delay <= 100ms); // what went before does not count
}

TEST_CASE_FIXTURE(
    Fixture,
    "slot machine: an accept that was cancelled by the other side waits, and is told to nobody") {
    accepting();
    const SlotActions actions = slot.accept_failed(Errc::cancelled, 0s);
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
        const SlotActions actions = slot.session_left(reason, std::nullopt, Duration{});
        CHECK(actions.wait);
        CHECK(actions.delay > Duration::zero());
        CHECK(slot.failures() == ++failures);
        CHECK(slot.due().start_accept);
        CHECK(slot.accepted().open_session);
    }
    CHECK(slot.session_left(CloseReason::idle, std::nullopt, Duration{}).start_accept);
    CHECK(slot.failures() == 0);
}

TEST_CASE_FIXTURE(Fixture, "slot machine: a broker that answers again ends the row of failures, "
                           "whether it has a session or not") {
    accepting();
    static_cast<void>(slot.accept_failed(Errc::connection_refused, 0s));
    static_cast<void>(slot.due());
    static_cast<void>(slot.accept_failed(Errc::server_busy, 0s));
    static_cast<void>(slot.due());
    static_cast<void>(slot.accept_failed(Errc::no_session_available, 60s));
    CHECK(slot.failures() == 0);
}

TEST_CASE_FIXTURE(Fixture, "slot machine: R16: an accept that is never answered is given up, told "
                           "and repeated after a backoff") {
    accepting();
    const SlotActions actions = slot.due();
    CHECK(actions.cancel_accept);
    CHECK(actions.report_failure);
    CHECK(actions.wait);
    CHECK(slot.phase() == Phase::backing_off);
    CHECK(slot.due().start_accept);
}

TEST_CASE_FIXTURE(Fixture, "slot machine: a slot without a target waits to be started") {
    accepting();
    slot.no_target();
    CHECK(slot.phase() == Phase::vacant);
    CHECK(is_nothing(slot.due()));
    CHECK(slot.start().start_accept);
}

TEST_CASE_FIXTURE(Fixture, "slot machine: R18: stopping a vacant slot") {
    CHECK(is_nothing(slot.stop(CloseReason::stopped)));
    CHECK(slot.phase() == Phase::stopped);
    CHECK(is_nothing(slot.start()));
}

TEST_CASE_FIXTURE(Fixture, "slot machine: R19: stopping gives an accept under way up") {
    accepting();
    const SlotActions actions = slot.stop(CloseReason::stopped);
    CHECK(actions.cancel_accept);
    CHECK_FALSE(actions.leave_session);
    CHECK(slot.phase() == Phase::stopped);
    CHECK(is_nothing(slot.stop(CloseReason::stopped)));
}

TEST_CASE_FIXTURE(
    Fixture, "slot machine: R18: stopping leaves the session, after which nothing is accepted") {
    holding();
    const SlotActions actions = slot.stop(CloseReason::stopped);
    CHECK(actions.leave_session);
    CHECK_FALSE(actions.cancel_accept);
    CHECK(slot.phase() == Phase::holding);
    CHECK(is_nothing(slot.stop(CloseReason::stopped)));
    CHECK(is_nothing(slot.session_left(CloseReason::stopped, std::nullopt, Duration{})));
    CHECK(slot.phase() == Phase::stopped);
}

TEST_CASE_FIXTURE(Fixture, "slot machine: R18: stopping a slot that backs off ends it") {
    accepting();
    CHECK(slot.accept_failed(Errc::unauthorized, 0s).wait);
    CHECK(is_nothing(slot.stop(CloseReason::stopped)));
    CHECK(is_nothing(slot.due()));
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
    SlotMachine slot{BackoffOptions{}, random};
    CHECK(slot.start().start_accept);
    CHECK(slot.accepted().open_session);
    const SlotActions soon = slot.session_left(CloseReason::idle, 1ms, 1ms);
    CHECK_FALSE(soon.start_accept);
    CHECK(soon.wait);
    CHECK(soon.delay == SlotMachine::min_accept_interval - 1ms);
    CHECK(slot.due().start_accept);
    CHECK(slot.accepted().open_session);
    CHECK(slot.session_left(CloseReason::idle, 1s, 1s).start_accept);
}

TEST_CASE("slot machine: R17: losses of sessions held for long do not add up, short ones do") {
    core::Random random{1};
    SlotMachine slot{{.min = 100ms, .max = 10s}, random};
    const auto lose_after = [&](Duration held) {
        static_cast<void>(slot.start());
        static_cast<void>(slot.due());
        static_cast<void>(slot.accepted());
        return slot.session_left(CloseReason::connection_lost, std::nullopt, held).delay;
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

TEST_CASE_FIXTURE(Fixture, "slot machine: R17: a slot that is wanted again keeps its backoff") {
    holding();
    CHECK(slot.stop(CloseReason::limit_lowered).leave_session);
    CHECK(is_nothing(slot.start())); // while the session is on its way out
    const SlotActions lost =
        slot.session_left(CloseReason::connection_lost, std::nullopt, Duration{});
    CHECK(lost.wait);
    CHECK(slot.phase() == Phase::backing_off);

    CHECK(is_nothing(slot.stop(CloseReason::limit_lowered)));
    CHECK(slot.phase() == Phase::stopped);
    CHECK(slot.start().start_accept);
    CHECK(slot.stop(CloseReason::stopped).cancel_accept);
    CHECK(is_nothing(slot.start())); // for good
}

TEST_CASE_FIXTURE(Fixture, "slot machine: R18: stopping while the limit is lowered leaves once") {
    holding();
    const SlotActions lowered = slot.stop(CloseReason::limit_lowered);
    CHECK(lowered.leave_session);
    CHECK(lowered.reason == CloseReason::limit_lowered);
    CHECK(is_nothing(slot.stop(CloseReason::stopped)));
    CHECK(is_nothing(slot.start()));
    CHECK(is_nothing(slot.session_left(CloseReason::limit_lowered, std::nullopt, Duration{})));
    CHECK(slot.phase() == Phase::stopped);
}

TEST_CASE("slot machine: every input in every phase") {
    core::Random random{1};
    const auto make = [&] { return SlotMachine{BackoffOptions{.min = 100ms, .max = 1s}, random}; };
    const auto words = [](const SlotActions& actions) {
        std::string text;
        const std::pair<bool, const char*> rows[] = {
            {actions.start_accept, "accept"}, {actions.cancel_accept, "give_up"},
            {actions.open_session, "open"},   {actions.leave_session, "leave"},
            {actions.wait, "wait"},           {actions.report_failure, "report"},
        };
        for (const auto& [set, name] : rows) {
            if (set) {
                text.append(text.empty() ? "" : " ").append(name);
            }
        }
        return text;
    };
    const std::vector<std::function<SlotMachine()>> reach{
        make,
        [&] {
            SlotMachine slot = make();
            CHECK(slot.start().start_accept);
            return slot;
        },
        [&] {
            SlotMachine slot = make();
            CHECK(slot.start().start_accept);
            CHECK(slot.accepted().open_session);
            return slot;
        },
        [&] {
            SlotMachine slot = make();
            CHECK(slot.start().start_accept);
            CHECK(slot.accept_failed(Errc::server_busy, 0s).wait);
            return slot;
        },
        [&] {
            SlotMachine slot = make();
            CHECK(is_nothing(slot.stop(CloseReason::limit_lowered)));
            return slot;
        },
    };
    const std::vector<std::pair<std::string, std::function<SlotActions(SlotMachine&)>>> inputs{
        {"start", [](SlotMachine& slot) { return slot.start(); }},
        {"accepted", [](SlotMachine& slot) { return slot.accepted(); }},
        {"no session",
         [&](SlotMachine& slot) { return slot.accept_failed(Errc::no_session_available, 60s); }},
        {"refused",
         [&](SlotMachine& slot) { return slot.accept_failed(Errc::connection_refused, 60s); }},
        {"failed", [&](SlotMachine& slot) { return slot.accept_failed(Errc::server_busy, 0s); }},
        {"due", [&](SlotMachine& slot) { return slot.due(); }},
        {"left idle",
         [&](SlotMachine& slot) { return slot.session_left(CloseReason::idle, std::nullopt, 1s); }},
        {"left by fault",
         [&](SlotMachine& slot) {
             return slot.session_left(CloseReason::lock_lost, std::nullopt, 0s);
         }},
        {"no target",
         [](SlotMachine& slot) {
             slot.no_target();
             return SlotActions{};
         }},
        {"lowered", [](SlotMachine& slot) { return slot.stop(CloseReason::limit_lowered); }},
        {"stop", [](SlotMachine& slot) { return slot.stop(CloseReason::stopped); }},
    };
    struct Cell {
        Phase phase;
        const char* actions;
    };
    constexpr auto vacant = Phase::vacant;
    constexpr auto accepting = Phase::accepting;
    constexpr auto holding = Phase::holding;
    constexpr auto backing_off = Phase::backing_off;
    constexpr auto stopped = Phase::stopped;
    const Cell expected[5][11] = {
        {{accepting, "accept"},
         {vacant, ""},
         {vacant, ""},
         {vacant, ""},
         {vacant, ""},
         {vacant, ""},
         {vacant, ""},
         {vacant, ""},
         {vacant, ""},
         {stopped, ""},
         {stopped, ""}},
        {{accepting, ""},
         {holding, "open"},
         {accepting, "accept"},
         {accepting, "accept report"},
         {backing_off, "wait report"},
         {backing_off, "give_up wait report"},
         {accepting, ""},
         {accepting, ""},
         {vacant, ""},
         {stopped, "give_up"},
         {stopped, "give_up"}},
        {{holding, ""},
         {holding, ""},
         {holding, ""},
         {holding, ""},
         {holding, ""},
         {holding, ""},
         {accepting, "accept"},
         {backing_off, "wait"},
         {holding, ""},
         {holding, "leave"},
         {holding, "leave"}},
        {{backing_off, ""},
         {backing_off, ""},
         {backing_off, ""},
         {backing_off, ""},
         {backing_off, ""},
         {accepting, "accept"},
         {backing_off, ""},
         {backing_off, ""},
         {backing_off, ""},
         {stopped, ""},
         {stopped, ""}},
        {{accepting, "accept"},
         {stopped, ""},
         {stopped, ""},
         {stopped, ""},
         {stopped, ""},
         {stopped, ""},
         {stopped, ""},
         {stopped, ""},
         {stopped, ""},
         {stopped, ""},
         {stopped, ""}},
    };
    std::vector<std::string> names;
    for (const auto& [name, input] : inputs) {
        names.push_back(name);
    }
    test::PhaseTable table{"slot machine",
                           {"vacant", "accepting", "holding", "backing_off", "stopped"},
                           std::move(names)};
    for (std::size_t phase = 0; phase < reach.size(); ++phase) {
        for (std::size_t input = 0; input < inputs.size(); ++input) {
            CAPTURE(phase);
            CAPTURE(inputs[input].first);
            SlotMachine slot = reach[phase]();
            REQUIRE(static_cast<std::size_t>(slot.phase()) == phase);
            CHECK(words(inputs[input].second(slot)) == expected[phase][input].actions);
            CHECK(slot.phase() == expected[phase][input].phase);
            table.reached(phase, input);
        }
    }
    table.print();
    CHECK(table.missing().empty());
}
