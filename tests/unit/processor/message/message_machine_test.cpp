// SPDX-License-Identifier: MIT
#include "processor/message/message_machine.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "support/phase_table.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using detail::processor::Circumstances;
using detail::processor::Ending;
using detail::processor::MessageActions;
using detail::processor::MessageEnd;
using detail::processor::MessageMachine;
using detail::processor::MessageStep;
using Action = FailurePolicy::Action;
using Arrival = MessageMachine::Arrival;
using Phase = MessageMachine::Phase;

namespace {

constexpr std::optional<Action> retry{};

constexpr TimePoint t0{1h};

std::string words(const MessageActions& actions) {
    static constexpr const char* next[] = {"",     "enqueue", "put_back", "send",   "wait",
                                           "park", "later",   "examine",  "rewind", "dispose"};
    static constexpr const char* causes[] = {"failed", "expired", "session", "killer"};
    std::string text = next[static_cast<std::size_t>(actions.next)];
    if (actions.next == MessageStep::settle) {
        const auto& [outcome, cause] = actions.resolution;
        text.append(actions.rest_too ? "_session " : " ")
            .append(outcome == ports::Outcome::dead_letter
                        ? std::string_view{causes[static_cast<std::size_t>(cause)]}
                        : ports::to_string(outcome));
    }
    text.append(actions.counts ? " counts" : "").append(actions.releases ? " releases" : "");
    return text;
}

Circumstances failing(std::optional<Action> step) {
    return {.failure = {.action = step, .delay = step == Action::abandon ? 0s : 1s}};
}
/// Of an entity without sessions.
constexpr Circumstances waits_alone{.failure = {.action = Action::abandon, .delay = 1s}};

constexpr MessageEnd handled{};
constexpr MessageEnd failed{.ending = Ending::failed};
constexpr MessageEnd failed_on_hold{.ending = Ending::failed, .holds_lane = true};

/// A machine and how it got where it is.
struct Way {
    MessageMachine message{};

    MessageMachine& in_lane(bool removed = false) {
        CHECK(words(message.arrived(Arrival::enqueue, 100, removed)) == "enqueue");
        return message;
    }
    MessageMachine& gathering() {
        CHECK(words(message.arrived(Arrival::gather, 100, false)).empty());
        return message;
    }
    MessageMachine& settling_early() {
        CHECK(words(in_lane().decided(ports::Outcome::complete, true, true)) == "send complete");
        return message;
    }
    MessageMachine& settled_early() {
        CHECK(words(settling_early().answered(true)).empty());
        return message;
    }
    MessageMachine& retrying(bool holds = true) {
        MessageEnd end = failed;
        end.holds_lane = holds;
        CHECK(words(in_lane().ended(end, failing(retry), t0)) == "wait");
        return message;
    }
    MessageMachine& examining() {
        const MessageEnd end{.ending = Ending::unexamined, .holds_lane = true};
        CHECK(words(in_lane().ended(end, {}, t0)) == "examine");
        return message;
    }
    MessageMachine& to_be_abandoned() {
        CHECK(words(in_lane().ended(failed_on_hold, failing(Action::abandon), t0)) ==
              "rewind counts");
        return message;
    }
    MessageMachine& settling() {
        CHECK(words(in_lane().ended(handled, {}, t0)) == "send complete counts");
        return message;
    }
    MessageMachine& gone() {
        CHECK(words(settling().answered(true)) == "dispose releases");
        return message;
    }
};

} // namespace

TEST_CASE("message machine: R13: a handler does not start once the lock ends within the margin") {
    constexpr auto handle = ExpiredMessageAction::handle;
    CHECK_FALSE(MessageMachine::may_start(t0, t0 + 1ns, {}, handle, false));
    CHECK(MessageMachine::may_start(t0, t0, {}, handle, true) == Ending::not_started);
}

TEST_CASE(
    "message machine: R22: a message past its deadline is not handled, unless that is wanted") {
    const Deadline past = Deadline::at(t0 - 1s);
    const TimePoint last_start = t0 + 1h;
    CHECK(MessageMachine::may_start(t0, last_start, past, ExpiredMessageAction::discard, true) ==
          Ending::expired);
    CHECK_FALSE(
        MessageMachine::may_start(t0, last_start, past, ExpiredMessageAction::handle, false));
    CHECK_FALSE(MessageMachine::may_start(t0, last_start, Deadline::at(t0 + 1s),
                                          ExpiredMessageAction::discard, false));
}

TEST_CASE("message machine: one that was delivered before does not start unexamined") {
    const auto may_start = [](bool unexamined) {
        return MessageMachine::may_start(t0, t0 + 1h, {}, ExpiredMessageAction::handle, unexamined);
    };
    CHECK(may_start(true) == Ending::unexamined);
    CHECK_FALSE(may_start(false));
    CHECK(MessageMachine::holds_lane(Ending::unexamined, std::nullopt, true, false));
    CHECK_FALSE(MessageMachine::holds_lane(Ending::unexamined, std::nullopt, false, false));

    Way examined;
    CHECK_FALSE(examined.examining().is_examined());
    CHECK(words(examined.message.examined(false)) == "put_back");
    CHECK(examined.message.is_examined());
    CHECK(examined.message.attempt() == 1);
    Way leaving;
    CHECK(words(leaving.in_lane().ended({.ending = Ending::unexamined}, {.may_wait = false}, t0)) ==
          "send release");
}

TEST_CASE("message machine: R9: a delayed retry waits, and is then abandoned") {
    Way way;
    CHECK(words(way.in_lane().ended(failed_on_hold, failing(Action::retry_later), t0)) == "later");
    CHECK(way.message.retry_at() == t0 + 1s);
    CHECK(words(way.message.let_back(true)) == "send abandon");
}

TEST_CASE("message machine: R9: a parking without end does not overflow") {
    constexpr Circumstances endless{
        .failure = {.action = Action::park_session, .delay = Duration::max()}};
    Way way;
    CHECK(words(way.in_lane().ended(failed_on_hold, endless, t0)) == "park");
    CHECK(way.message.retry_at() == TimePoint::max());
}

TEST_CASE("message machine: R6: what goes back holds the lane where calls run one at a time") {
    const auto holds = MessageMachine::holds_lane;
    CHECK(holds(Ending::failed, {}, true, false));
    CHECK(holds(Ending::not_started, {}, true, false));
    CHECK(holds(Ending::handled, ports::Outcome::abandon, true, false));
    CHECK_FALSE(holds(Ending::failed, ports::Outcome::complete, true, false)); // that stands
    CHECK_FALSE(holds(Ending::handled, {}, true, false));
    CHECK(holds(Ending::handled, {}, true, true)); // settlements are to be confirmed
    CHECK_FALSE(holds(Ending::failed, {}, false, true));
}

TEST_CASE("message machine: R9: each failure policy has its way out") {
    struct Row {
        std::optional<Action> step;
        const char* on_hold;
        const char* several;
        Phase phase;
    };
    for (const Row row : {
             Row{retry, "wait", "wait", Phase::retrying},
             Row{Action::park_session, "park", "park", Phase::retrying},
             Row{Action::abandon, "rewind counts", "send abandon counts", Phase::failed},
             Row{Action::dead_letter, "send failed counts", "send failed counts", Phase::settling},
             Row{Action::dead_letter_session, "send_session failed", "send_session failed",
                 Phase::settling},
         }) {
        CAPTURE(row.on_hold);
        Way strict;
        CHECK(words(strict.in_lane().ended(failed_on_hold, failing(row.step), t0)) == row.on_hold);
        CHECK(strict.message.phase() == row.phase);
        Way several;
        CHECK(words(several.in_lane().ended(failed, failing(row.step), t0)) == row.several);
    }
}

TEST_CASE("message machine: R9: a retry goes back to its place and counts the attempt") {
    Way held;
    CHECK(held.retrying(true).retry_at() == t0 + 1s);
    CHECK(words(held.message.retry_due()) == "put_back");
    CHECK(held.message.attempt() == 2);
    CHECK(held.message.take_hold());
    CHECK_FALSE(held.message.take_hold()); // once
    Way several;
    CHECK(words(several.retrying(false).retry_due()) == "enqueue");
}

TEST_CASE("message machine: R8: what a handler decided stands, also when it throws afterwards") {
    Way early;
    MessageEnd end{.ending = Ending::failed, .decision = ports::Outcome::complete};
    CHECK(words(early.settling_early().ended(end, failing(Action::abandon), t0)) == " counts");
    CHECK(early.message.phase() == Phase::settling);
    Way answered;
    CHECK(words(answered.settled_early().ended(end, {}, t0)) == "dispose counts releases");
    Way late;
    CHECK(words(late.in_lane().ended(end, failing(retry), t0)) == "send complete counts");
}

TEST_CASE("message machine: R6: an explicit abandon waits for what is behind it") {
    MessageEnd end{.decision = ports::Outcome::abandon, .holds_lane = true};
    Way strict;
    CHECK(words(strict.in_lane().decided(ports::Outcome::abandon, true, true)).empty());
    CHECK(words(strict.message.ended(end, {}, t0)) == "rewind counts");
    Way several;
    CHECK(words(several.in_lane().decided(ports::Outcome::abandon, true, false)) ==
          "send complete"); // as decided
    end.holds_lane = false;
    Way at_end;
    CHECK(words(at_end.in_lane().ended(end, {}, t0)) == "send abandon counts");
}

TEST_CASE("message machine: R6: a released message waits, and what is behind it goes back first") {
    CHECK(MessageMachine::holds_lane(Ending::handled, ports::Outcome::release, true, false));
    for (const Ending ending : {Ending::handled, Ending::failed}) { // the settlement stands
        MessageEnd end{.ending = ending, .decision = ports::Outcome::release, .holds_lane = true};
        Way parks;
        CHECK(words(parks.in_lane().decided(ports::Outcome::release, true, false)).empty());
        CHECK(words(parks.message.ended(end, failing(Action::park_session), t0)) == "park");
        CHECK(words(parks.message.let_back(true)) == "send abandon"); // as decided
        Way at_once;
        CHECK(words(at_once.in_lane().ended(end, failing(Action::abandon), t0)) == "rewind counts");
        end.holds_lane = false;
        Way alone;
        CHECK(words(alone.in_lane().ended(end, waits_alone, t0)) == "wait");
        CHECK(words(alone.message.retry_due()) == "send release counts");
    }
}

TEST_CASE("message machine: R9: without an order an abandoned message waits alone") {
    Way alone;
    CHECK(words(alone.in_lane().ended(failed, waits_alone, t0)) == "wait");
    CHECK(alone.message.retry_at() == t0 + 1s);
    CHECK(words(alone.message.retry_due()) == "send abandon counts"); // and is not tried again
    CHECK(alone.message.attempt() == 1);
    Way leaving;
    static_cast<void>(leaving.in_lane().ended(failed, waits_alone, t0));
    CHECK(words(leaving.message.let_back(true)) == "send abandon");
    Way late;
    static_cast<void>(late.in_lane().ended(failed, waits_alone, t0));
    CHECK(words(late.message.lock_ended()) == "dispose"); // the broker has it
}

TEST_CASE("message machine: a message that was not started waits for the lock or is released") {
    const MessageEnd end{.ending = Ending::not_started, .holds_lane = true};
    Way waits;
    CHECK(words(waits.in_lane().ended(end, {.may_wait = true}, t0)) == "put_back");
    CHECK(waits.message.phase() == Phase::in_lane);
    CHECK(waits.message.attempt() == 1);
    Way leaves;
    CHECK(words(leaves.in_lane().ended(end, {.may_wait = false}, t0)) == "send release");
}

TEST_CASE("message machine: R22: an expired message is dead-lettered or discarded") {
    const MessageEnd end{.ending = Ending::expired};
    Way dead;
    CHECK(words(dead.in_lane().ended(end, {}, t0)) == "send expired");
    Way discarded;
    CHECK(words(discarded.in_lane().ended(end, {.expired = ExpiredMessageAction::discard}, t0)) ==
          "send complete");
}

TEST_CASE(
    "message machine: R10: a message that its sender settled is tried again, else it is gone") {
    Way again;
    CHECK(words(again.in_lane(true).ended(failed, failing(retry), t0)) == "wait");
    for (const Action step : {Action::abandon, Action::dead_letter, Action::park_session,
                              Action::dead_letter_session}) {
        Way gone;
        CHECK(words(gone.in_lane(true).ended(failed, failing(step), t0)) ==
              "dispose counts releases");
    }
    Way late;
    CHECK(words(late.message.arrived(Arrival::release, 100, true)) == "dispose releases");
}

TEST_CASE("message machine: what a batch gives back starts again, or goes back uncounted") {
    constexpr MessageEnd given_back{.ending = Ending::given_back, .holds_lane = true};
    CHECK(MessageMachine::holds_lane(Ending::given_back, std::nullopt, true, false));
    CHECK_FALSE(MessageMachine::holds_lane(Ending::given_back, std::nullopt, false, false));
    CHECK_FALSE(detail::processor::ran(Ending::given_back));
    Way again;
    CHECK(words(again.in_lane().ended(given_back, {}, t0)) == "put_back");
    CHECK(again.message.attempt() == 1);
    Way leaving;
    CHECK(words(leaving.in_lane().ended(given_back, {.may_wait = false}, t0)) == "send release");
    Way removed;
    CHECK(words(removed.in_lane(true).ended(given_back, {.may_wait = false}, t0)) == "put_back");
    Way lost;
    CHECK(words(lost.in_lane().ended(given_back, {.usable = false}, t0)) == "dispose");
}

TEST_CASE("message machine: R8: nothing is settled once the lock is lost") {
    Way running;
    CHECK(words(running.in_lane().ended(handled, {.usable = false}, t0)) == "dispose");
    Way asked;
    CHECK(words(asked.settling_early().ended(handled, {.usable = false}, t0)).empty());
    CHECK(asked.message.phase() == Phase::settling);
    CHECK(words(asked.message.answered(false)) == "dispose");
    Way waiting;
    CHECK(words(waiting.in_lane().taken_back(std::nullopt)) == "dispose");
    Way to_go;
    CHECK(words(to_go.to_be_abandoned().let_back(false)) == "dispose");
    Way decided;
    CHECK(words(decided.in_lane().decided(ports::Outcome::complete, false, true)).empty());
    Way late;
    CHECK(words(late.message.arrived(Arrival::discard, 100, false)) == "dispose");
}

TEST_CASE("message machine: an answer that says no keeps the lane held") {
    Way way;
    CHECK(words(way.settling().answered(false)) == "dispose");
}

TEST_CASE("message machine: every input in every phase") {
    using Reach = std::function<void(Way&)>;
    const std::vector<Reach> reach{
        [](Way&) {},
        [](Way& way) { way.gathering(); },
        [](Way& way) { way.in_lane(); },
        [](Way& way) { way.settling_early(); },
        [](Way& way) { way.settled_early(); },
        [](Way& way) { way.retrying(); },
        [](Way& way) { way.examining(); },
        [](Way& way) { way.to_be_abandoned(); },
        [](Way& way) { way.settling(); },
        [](Way& way) { way.gone(); },
    };
    using Input = std::function<MessageActions(MessageMachine&)>;
    const std::vector<std::pair<std::string, Input>> inputs{
        {"arrived", [](auto& m) { return m.arrived(Arrival::enqueue, 100, false); }},
        {"too late", [](auto& m) { return m.arrived(Arrival::release, 100, false); }},
        {"dead letter", [](auto& m) { return m.arrived(Arrival::dead_letter, 100, false); }},
        {"decided", [](auto& m) { return m.decided(ports::Outcome::complete, true, true); }},
        {"returned", [](auto& m) { return m.ended(handled, {}, t0); }},
        {"threw", [](auto& m) { return m.ended(failed_on_hold, failing(Action::abandon), t0); }},
        {"not started",
         [](auto& m) { return m.ended({.ending = Ending::not_started}, {.may_wait = false}, t0); }},
        {"retry due", [](auto& m) { return m.retry_due(); }},
        {"taken back",
         [](auto& m) {
             return m.taken_back(detail::processor::Resolution{ports::Outcome::release});
         }},
        {"let back", [](auto& m) { return m.let_back(true); }},
        {"answered", [](auto& m) { return m.answered(true); }},
        {"link gone", [](auto& m) { return m.answered(false); }},
        {"examined", [](auto& m) { return m.examined(false); }},
        {"gathered", [](auto& m) { return m.gathered(); }},
        {"lock ended", [](auto& m) { return m.lock_ended(); }},
    };
    struct Cell {
        Phase phase;
        const char* actions;
    };
    constexpr Cell as_received{Phase::received, ""};
    constexpr Cell as_gathering{Phase::gathering, ""};
    constexpr Cell as_lane{Phase::in_lane, ""};
    constexpr Cell as_early{Phase::settling_early, ""};
    constexpr Cell as_settled{Phase::settled_early, ""};
    constexpr Cell as_retrying{Phase::retrying, ""};
    constexpr Cell as_examining{Phase::examining, ""};
    constexpr Cell as_failed{Phase::failed, ""};
    constexpr Cell as_settling{Phase::settling, ""};
    constexpr Cell as_gone{Phase::gone, ""};
    const Cell expected[10][15] = {{{Phase::in_lane, "enqueue"},
                                    {Phase::settling, "send release"},
                                    {Phase::settling, "send session"},
                                    as_received,
                                    as_received,
                                    as_received,
                                    as_received,
                                    as_received,
                                    as_received,
                                    as_received,
                                    as_received,
                                    as_received,
                                    as_received,
                                    as_received,
                                    as_received},
                                   {as_gathering,
                                    as_gathering,
                                    as_gathering,
                                    as_gathering,
                                    as_gathering,
                                    as_gathering,
                                    as_gathering,
                                    as_gathering,
                                    {Phase::settling, "send release"},
                                    as_gathering,
                                    as_gathering,
                                    as_gathering,
                                    as_gathering,
                                    {Phase::in_lane, "enqueue"},
                                    as_gathering},
                                   {as_lane,
                                    as_lane,
                                    as_lane,
                                    {Phase::settling_early, "send complete"},
                                    {Phase::settling, "send complete counts"},
                                    {Phase::failed, "rewind counts"},
                                    {Phase::settling, "send release"},
                                    as_lane,
                                    {Phase::settling, "send release"},
                                    as_lane,
                                    as_lane,
                                    as_lane,
                                    as_lane,
                                    as_lane,
                                    as_lane},
                                   {as_early,
                                    as_early,
                                    as_early,
                                    as_early,
                                    {Phase::settling, " counts"},
                                    {Phase::failed, "rewind counts"},
                                    {Phase::settling, "send release"},
                                    as_early,
                                    as_early,
                                    as_early,
                                    {Phase::settled_early, ""},
                                    {Phase::settled_early, ""},
                                    as_early,
                                    as_early,
                                    as_early},
                                   {as_settled,
                                    as_settled,
                                    as_settled,
                                    as_settled,
                                    {Phase::gone, "dispose counts releases"},
                                    {Phase::failed, "rewind counts"},
                                    {Phase::settling, "send release"},
                                    as_settled,
                                    as_settled,
                                    as_settled,
                                    as_settled,
                                    as_settled,
                                    as_settled,
                                    as_settled,
                                    as_settled},
                                   {as_retrying,
                                    as_retrying,
                                    as_retrying,
                                    as_retrying,
                                    as_retrying,
                                    as_retrying,
                                    as_retrying,
                                    {Phase::in_lane, "put_back"},
                                    as_retrying,
                                    {Phase::settling, "send abandon"},
                                    as_retrying,
                                    as_retrying,
                                    as_retrying,
                                    as_retrying,
                                    {Phase::gone, "dispose"}},
                                   {as_examining,
                                    as_examining,
                                    as_examining,
                                    as_examining,
                                    as_examining,
                                    as_examining,
                                    as_examining,
                                    as_examining,
                                    as_examining,
                                    {Phase::settling, "send release"},
                                    as_examining,
                                    as_examining,
                                    {Phase::in_lane, "put_back"},
                                    as_examining,
                                    as_examining},
                                   {as_failed,
                                    as_failed,
                                    as_failed,
                                    as_failed,
                                    as_failed,
                                    as_failed,
                                    as_failed,
                                    as_failed,
                                    as_failed,
                                    {Phase::settling, "send abandon"},
                                    as_failed,
                                    as_failed,
                                    as_failed,
                                    as_failed,
                                    as_failed},
                                   {as_settling,
                                    as_settling,
                                    as_settling,
                                    as_settling,
                                    as_settling,
                                    as_settling,
                                    as_settling,
                                    as_settling,
                                    as_settling,
                                    as_settling,
                                    {Phase::gone, "dispose releases"},
                                    {Phase::gone, "dispose"},
                                    as_settling,
                                    as_settling,
                                    as_settling},
                                   {as_gone, as_gone, as_gone, as_gone, as_gone, as_gone, as_gone,
                                    as_gone, as_gone, as_gone, as_gone, as_gone, as_gone, as_gone,
                                    as_gone}};
    std::vector<std::string> names;
    for (const auto& [name, input] : inputs) {
        names.push_back(name);
    }
    test::PhaseTable table{"message machine",
                           {"received", "gathering", "in_lane", "settling_early", "settled_early",
                            "retrying", "examining", "failed", "settling", "gone"},
                           std::move(names)};
    for (std::size_t phase = 0; phase < reach.size(); ++phase) {
        for (std::size_t input = 0; input < inputs.size(); ++input) {
            // A handler that has settled its message ends with that decision: see above.
            CAPTURE(phase);
            CAPTURE(inputs[input].first);
            Way way;
            reach[phase](way);
            REQUIRE(static_cast<std::size_t>(way.message.phase()) == phase);
            CHECK(words(inputs[input].second(way.message)) == expected[phase][input].actions);
            CHECK(way.message.phase() == expected[phase][input].phase);
            table.reached(phase, input);
        }
    }
    table.print();
    CHECK(table.missing().empty());
}
