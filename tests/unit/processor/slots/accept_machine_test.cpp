// SPDX-License-Identifier: MIT
#include "processor/slots/accept_machine.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <list>
#include <string>

using namespace sessionq;
using namespace std::chrono_literals;
using detail::processor::AcceptMachine;
using detail::processor::Ask;
using detail::processor::TargetBook;
using detail::processor::TargetClaims;

namespace {

/// Slots and a broker that answers when the test says so.
struct Bench {
    explicit Bench(std::vector<std::string> entities, std::vector<std::string> sessions = {},
                   TargetClaims* claims = nullptr)
        : targets{entities, sessions, claims},
          machine{targets, {.min = 100ms, .max = 1s}, random} {}

    /// Performs what is due. Returns what is asked and given up ("-a"), in order.
    std::string look() {
        std::string text;
        const auto add = [&](const char* sign, std::size_t target) {
            text.append(text.empty() ? "" : " ").append(sign).append(name(target));
        };
        machine.due(now);
        while (Ask* given_up = machine.overdue(now)) {
            add("!", given_up->target);
            targets.release(given_up->target);
            asks.remove_if([&](const Ask& each) { return &each == given_up; });
        }
        while (Ask* given_up = machine.surplus(now)) {
            add("-", given_up->target);
            targets.release(given_up->target);
            asks.remove_if([&](const Ask& each) { return &each == given_up; });
        }
        while (const auto target = machine.next_target(now)) {
            add("", *target);
            machine.asked(asks.emplace_back(), *target, now, now + 65s);
        }
        return text;
    }
    std::string need(std::uint32_t free) {
        slots = free;
        machine.need(slots, now);
        return look();
    }
    std::string pass(Duration time) {
        now += time;
        return look();
    }
    /// At once, for as long as that is when the machine wants to be called.
    std::string pass_all(Duration time) {
        const TimePoint end = now + time;
        std::string text;
        while (machine.next(now) <= end) {
            now = std::max(now, machine.next(now));
            const std::string more = look();
            text.append(text.empty() || more.empty() ? "" : " ").append(more);
        }
        now = end;
        return text;
    }
    Ask& oldest(const std::string& entity) {
        for (Ask& each : asks) {
            if (name(each.target) == entity) {
                return each;
            }
        }
        REQUIRE_MESSAGE(false, entity);
        return asks.front();
    }
    void erase(Ask& ask) {
        asks.remove_if([&](const Ask& each) { return &each == &ask; });
    }
    /// The entity grants a session. Returns what follows, with "surplus" if none is needed.
    std::string grant(const std::string& entity) {
        Ask& ask = oldest(entity);
        const bool needed = machine.granted(ask, now);
        erase(ask);
        return needed ? need(slots - 1) : "surplus " + look();
    }
    std::string fail(const std::string& entity, Errc code) {
        Ask& ask = oldest(entity);
        const std::size_t target = ask.target;
        static_cast<void>(machine.failed(ask, code, now));
        erase(ask);
        targets.release(target);
        return look();
    }
    std::string name(std::size_t target) const {
        return targets[target].entity + targets[target].session_id.value_or("");
    }

    core::Random random{1};
    TargetBook targets;
    AcceptMachine machine;
    std::list<Ask> asks{};
    TimePoint now{1h};
    std::uint32_t slots{0};
};

} // namespace

TEST_CASE("accept machine: of one entity as many sessions are asked for as slots are free") {
    Bench bench{{"a"}};
    CHECK(bench.need(3) == "a a a");
    CHECK(bench.pass_all(60s).empty());
    CHECK(bench.grant("a").empty());
    CHECK(bench.grant("a").empty());
    CHECK(bench.need(2) == "a");
    CHECK(bench.machine.pending() == 2);
}

TEST_CASE("accept machine: R25: as long as a slot is free an accept stands at every entity") {
    Bench bench{{"a", "b", "c", "d", "e"}};
    CHECK(bench.need(1) == "a"); // one slot: no more than it can take, at first
    CHECK(bench.pass(20ms) == "b c");
    CHECK(bench.pass(20ms) == "d e");
    CHECK(bench.pass_all(10s).empty());
    CHECK(bench.machine.pending() == 5);
    // A session anywhere comes at once. Then its entity may have more, and the others none.
    CHECK(bench.grant("d").empty());
    CHECK(bench.need(1) == "d");
    CHECK(bench.machine.pending() == 5);
}

TEST_CASE("accept machine: R25: entities known to have nothing are all asked at once") {
    Bench bench{{"a", "b", "c", "d"}};
    static_cast<void>(bench.need(1));
    static_cast<void>(bench.pass_all(1s));
    CHECK(bench.grant("c").empty());
    CHECK(bench.pass_all(10s) == "-a -b -d"); // a handler runs for long
    CHECK(bench.machine.pending() == 0);
    CHECK(bench.need(1) == "a b c d");
}

TEST_CASE("accept machine: of entities that have sessions no more are asked than slots are free") {
    Bench bench{{"a", "b", "c"}};
    CHECK(bench.need(1) == "a");
    for (int i = 0; i < 5; ++i) { // all are busy: in turn (DG9)
        CHECK(bench.grant("a").empty());
        CHECK(bench.need(1) == "b");
        CHECK(bench.grant("b").empty());
        CHECK(bench.need(1) == "c");
        CHECK(bench.grant("c").empty());
        CHECK(bench.need(1) == "a");
    }
}

TEST_CASE("accept machine: free slots are spread over the entities") {
    Bench bench{{"a", "b", "c"}};
    CHECK(bench.need(7) == "a b c a b c a");
    CHECK(bench.pass_all(10s) == "b c"); // rounded up
    CHECK(bench.need(6).empty());
    CHECK(bench.pass_all(10s) == "-a -b -c");
    CHECK(bench.grant("b") == "b");     // its share: one has waited in vain, so it has not many
    CHECK(bench.grant("b") == "b b b"); // all that stood have come: for each free slot one
}

TEST_CASE("accept machine: an entity is asked for more the more came, until it has none") {
    Bench bench{{"a", "b", "c", "d", "e", "f", "g", "h"}};
    static_cast<void>(bench.need(32));
    static_cast<void>(bench.pass_all(1s));
    CHECK(bench.machine.pending() == 32);
    const auto accepts_at_a = [&] {
        return std::count_if(bench.asks.begin(), bench.asks.end(),
                             [](const Ask& ask) { return ask.target == 0; });
    };
    for (int i = 0; i < 4; ++i) {
        CHECK(accepts_at_a() == 4);
        static_cast<void>(bench.grant("a"));
        static_cast<void>(bench.need(32)); // it was handled meanwhile
    }
    CHECK(accepts_at_a() == 16);
    static_cast<void>(bench.grant("a"));
    static_cast<void>(bench.need(32));
    CHECK(accepts_at_a() == 25);
    CHECK(bench.pass_all(AcceptMachine::linger * 2).size() == 21 * 3 - 1); // given up
    CHECK(accepts_at_a() == 4);
    static_cast<void>(bench.grant("a"));
    static_cast<void>(bench.need(32));
    CHECK(accepts_at_a() == 4);
}

TEST_CASE("accept machine: how long sessions were waited for does not count as slowness") {
    Bench bench{{"a", "b"}};
    for (int i = 0; i < 50; ++i) {
        static_cast<void>(bench.need(1));
        CHECK(bench.machine.next(bench.now) <= bench.now + 20ms);
        static_cast<void>(bench.pass_all(150ms));
        static_cast<void>(bench.grant("a"));
    }
    static_cast<void>(bench.pass_all(AcceptMachine::linger));
    for (int i = 0; i < 50; ++i) {
        bench.machine.closed_in(50ms); // this does
    }
    CHECK(bench.need(1) == "b a");
    CHECK(bench.grant("a").empty());
    CHECK(bench.need(1) == "a");
    CHECK(bench.machine.next(bench.now) > bench.now + 150ms);
}

TEST_CASE("accept machine: what an entity was asked for beyond its share is given up once it has "
          "nothing") {
    Bench bench{{"a", "b"}};
    static_cast<void>(bench.need(8));
    static_cast<void>(bench.pass_all(1s));
    CHECK(bench.machine.pending() == 8);
    for (int i = 0; i < 4; ++i) {
        static_cast<void>(bench.grant("b"));
    }
    static_cast<void>(bench.need(8)); // these slots are free again
    CHECK(bench.machine.pending() == 12);
    CHECK(bench.pass_all(AcceptMachine::linger * 2) == "-b -b -b -b");
    CHECK(bench.machine.pending() == 8);
    CHECK(bench.pass_all(60s).empty());
}

TEST_CASE("accept machine: accepts beyond the need are given up, unless a slot is free soon") {
    Bench bench{{"a", "b", "c"}};
    static_cast<void>(bench.need(1));
    static_cast<void>(bench.pass_all(1s));
    CHECK(bench.grant("a").empty());
    CHECK(bench.pass(AcceptMachine::linger / 2).empty());
    CHECK(bench.need(1) == "a");
    CHECK(bench.grant("a").empty());
    CHECK(bench.pass(AcceptMachine::linger / 2).empty());
    CHECK(bench.machine.next(bench.now) == bench.now + AcceptMachine::linger / 2);
    CHECK(bench.pass(AcceptMachine::linger / 2) == "-b -c");
}

TEST_CASE("accept machine: what is granted beyond the need goes back, and does not come again") {
    Bench bench{{"a", "b"}};
    static_cast<void>(bench.need(4));
    static_cast<void>(bench.pass_all(1s));
    CHECK(bench.machine.pending() == 4);
    for (int i = 0; i < 2; ++i) {
        static_cast<void>(bench.grant("a"));
    }
    while (bench.slots != 0) {
        static_cast<void>(bench.grant("a"));
    }
    CHECK(bench.grant("b") == "surplus -b");
    CHECK(bench.machine.pending() == 0);
    // It has sessions: not asked beside others any more.
    CHECK(bench.need(1) == "b");
}

TEST_CASE("accept machine: a limit that is lowered gives accepts up at once") {
    Bench bench{{"a"}};
    static_cast<void>(bench.need(3));
    bench.machine.need(1, bench.now);
    bench.machine.hurry(bench.now);
    CHECK(bench.look() == "-a -a");
    CHECK(bench.machine.pending() == 1);
}

TEST_CASE("accept machine: R17: an entity that fails waits, the others do not") {
    Bench bench{{"a", "b"}};
    CHECK(bench.need(2) == "a b");
    CHECK(bench.fail("a", Errc::entity_not_found) == "b"); // its turn goes to the other one
    CHECK(bench.machine.next(bench.now) <= bench.now + 100ms);
    CHECK(bench.pass_all(100ms) == "a a"); // meanwhile b has shown that it has nothing
    CHECK(bench.fail("a", Errc::entity_not_found).empty());
    CHECK(bench.fail("a", Errc::entity_not_found).empty());
}

TEST_CASE("accept machine: R5: a broker that answers at once that there is nothing is asked "
          "steadily, and other entities beside it") {
    Bench bench{{"a", "b"}};
    CHECK(bench.need(1) == "a");
    CHECK(bench.fail("a", Errc::no_session_available) == "b");
    CHECK(bench.pass_all(100ms) == "a");
    CHECK(bench.fail("a", Errc::no_session_available).empty());
    CHECK(bench.pass(60s).find('a') != std::string::npos);
}

TEST_CASE("accept machine: R5: an answer without a session ends the row of failures") {
    Bench bench{{"a"}};
    for (int i = 0; i < 3; ++i) {
        static_cast<void>(i == 0 ? bench.need(1) : bench.pass_all(1s));
        static_cast<void>(bench.fail("a", Errc::server_busy));
    }
    CHECK(bench.pass_all(1s) == "a");
    bench.now += 60s;
    static_cast<void>(bench.fail("a", Errc::no_session_available));
}

TEST_CASE(
    "accept machine: R16: an accept that is never answered is given up and counts as failed") {
    Bench bench{{"a"}};
    CHECK(bench.need(1) == "a");
    CHECK(bench.machine.next(bench.now) == bench.now + 65s);
    CHECK(bench.pass(65s) == "!a");
    CHECK(bench.pass_all(100ms) == "a");
}

TEST_CASE("accept machine: a named session is asked for once at a time, by one slot") {
    TargetClaims claims{3, [] {}};
    Bench bench{{"a"}, {"x", "y", "z"}, &claims};
    CHECK(bench.need(2) == "ax ay");
    CHECK(bench.pass_all(10s).empty()); // named sessions are granted at once, or another's
    CHECK(bench.fail("ax", Errc::no_session_available) == "az"); // they take turns
    CHECK(bench.grant("ay").empty());
    CHECK(bench.need(2) == "ax"); // y is held
    CHECK(bench.machine.pending() == 2);
}

TEST_CASE("accept machine: R17: a failure is its entity's, a session locked elsewhere its own") {
    TargetClaims claims{3, [] {}};
    Bench bench{{"a"}, {"x", "y", "z"}, &claims};
    CHECK(bench.need(1) == "ax");
    CHECK(bench.fail("ax", Errc::session_locked_elsewhere) == "ay");
    Duration longest = 100ms;
    for (std::string asked = "ay"; longest < 1s; longest *= 2) { // as if there were one name
        CHECK(bench.fail(asked, Errc::server_busy).empty());
        CHECK(bench.pass_all(longest / 2 - 1ms).empty());
        asked = bench.pass_all(longest / 2 + 2ms);
        CHECK(asked.size() == 2);
    }
}

TEST_CASE("accept machine: a named session that another thread has is passed over") {
    TargetClaims claims{2, [] {}};
    Bench here{{"a"}, {"x", "y"}, &claims};
    Bench there{{"a"}, {"x", "y"}, &claims};
    CHECK(here.need(1) == "ax");
    CHECK(there.need(2) == "ay");
    CHECK(here.grant("ax").empty());
    CHECK(there.look().empty());
    here.targets.release(0);
    CHECK(there.look() == "ax");
}
