// SPDX-License-Identifier: MIT
#include "client/redrive/redrive_machine.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace sessionq;
using namespace std::chrono_literals;
using detail::client::RedriveMachine;

namespace {

using Number = RedriveMachine::Number;
using Numbers = RedriveMachine::Numbers;

constexpr TimePoint start{1h};

/// The step of this kind that comes next.
template <typename Step>
Step expect(RedriveMachine& machine, TimePoint now = start) {
    auto step = machine.next(now);
    REQUIRE(std::holds_alternative<Step>(step));
    return std::get<Step>(std::move(step));
}

RedriveMachine planned(const std::vector<std::pair<Number, const char*>>& letters,
                       Duration max_wait = 60s, bool holds_sessions = true) {
    RedriveMachine machine{holds_sessions, max_wait, start};
    for (const auto& [number, session] : letters) {
        machine.plan(number, session);
    }
    return machine;
}

void receive(RedriveMachine& machine, std::initializer_list<Number> numbers,
             TimePoint now = start) {
    for (const Number number : numbers) {
        CHECK(machine.received(number, now));
    }
}

void enter(RedriveMachine& machine, const std::string& session) {
    CHECK(expect<RedriveMachine::Hold>(machine).session_id == session);
    machine.held();
    CHECK(expect<RedriveMachine::Look>(machine).session_id == session);
    machine.looked();
}

void send(RedriveMachine& machine, const Numbers& numbers) {
    CHECK(expect<RedriveMachine::Send>(machine).numbers == numbers);
    std::ranges::for_each(numbers, [&](Number number) { machine.sent(number); });
}

void complete(RedriveMachine& machine, const Numbers& numbers) {
    CHECK(expect<RedriveMachine::Complete>(machine).numbers == numbers);
    std::ranges::for_each(numbers, [&](Number number) { machine.completed(number, start); });
}

void leave(RedriveMachine& machine) {
    static_cast<void>(expect<RedriveMachine::Leave>(machine));
    machine.left();
}

/// Brokers as a redrive sees them. Every effect may be the last one of a process.
struct World {
    struct Killed {};
    enum class Detects : std::uint8_t { nothing, duplicates };

    void effect() {
        if (effects_left == 0) {
            throw Killed{};
        }
        --effects_left;
    }
    void append(Number number) {
        effect();
        if (detects == Detects::nothing || known.insert(number).second) {
            copies.push_back(number);
            arrived.push_back(number);
        }
    }
    void remove(Number number) {
        effect();
        CHECK(dead.erase(number) == 1);
    }

    /// One process, until it is done or killed.
    void run(bool holds_sessions, std::size_t per_receive) {
        RedriveMachine machine{holds_sessions, 0s, start};
        for (const auto& [number, session] : dead) {
            machine.plan(number, session);
        }
        std::set<Number> in_hand;
        for (;;) {
            const auto step = machine.next(start);
            if (std::holds_alternative<RedriveMachine::Receive>(step)) {
                std::size_t count = 0;
                for (const auto& [number, session] : dead) {
                    if (count < per_receive && in_hand.insert(number).second) {
                        CHECK(machine.received(number, start));
                        ++count;
                    }
                }
                if (count == 0) {
                    machine.received_nothing();
                }
            } else if (std::holds_alternative<RedriveMachine::Hold>(step)) {
                machine.held();
            } else if (std::holds_alternative<RedriveMachine::Look>(step)) {
                for (const Number number : copies) {
                    machine.found_copy(number);
                }
                machine.looked();
            } else if (const auto* send = std::get_if<RedriveMachine::Send>(&step)) {
                for (const Number number : send->numbers) {
                    append(number);
                    machine.sent(number);
                }
            } else if (const auto* done = std::get_if<RedriveMachine::Complete>(&step)) {
                for (const Number number : done->numbers) {
                    remove(number);
                    machine.completed(number, start);
                }
            } else if (std::holds_alternative<RedriveMachine::Leave>(step)) {
                machine.left();
            } else {
                CHECK(machine.report().left == 0);
                return;
            }
        }
    }

    std::map<Number, RedriveMachine::SessionId> dead{};
    std::vector<Number> copies{};  // in the entity
    std::vector<Number> arrived{}; // ever, in order
    std::set<Number> known{};
    Detects detects{Detects::nothing};
    std::size_t effects_left{1000};
};

World world_of(World::Detects detects) {
    World world{.detects = detects};
    world.dead = {{1, "a"}, {2, "b"}, {3, "a"}, {4, std::nullopt}, {5, "a"}, {6, "b"}, {7, ""}};
    return world;
}

/// Each letter arrived once, those of a session in order.
void check_whole(const World& world, const World& before) {
    CHECK(world.dead.empty());
    CHECK(world.arrived.size() == before.dead.size());
    std::map<RedriveMachine::SessionId, Number> last;
    for (const Number number : world.arrived) {
        Number& previous = last[before.dead.at(number)];
        CHECK(number > previous);
        previous = number;
    }
}

} // namespace

TEST_CASE("redrive machine: killed at any place and repeated, nothing is lost or doubled") {
    for (const auto detects : {World::Detects::nothing, World::Detects::duplicates}) {
        for (const bool holds_sessions : {true, false}) {
            for (const std::size_t per_receive : {1U, 2U, 100U}) {
                const World before = world_of(detects);
                for (std::size_t first = 0; first <= 2 * before.dead.size(); ++first) {
                    for (std::size_t second = 0; second <= 2 * before.dead.size(); ++second) {
                        World world = before;
                        for (const std::size_t effects : {first, second, std::size_t{1000}}) {
                            world.effects_left = effects;
                            try {
                                world.run(holds_sessions, per_receive);
                            } catch (const World::Killed&) {
                            }
                            if (detects == World::Detects::duplicates) {
                                world.copies.clear(); // consumers were quicker than the repeat
                            }
                        }
                        check_whole(world, before);
                    }
                }
            }
        }
    }
}

TEST_CASE("redrive machine: a wait without end does not overflow") {
    auto machine = planned({{1, "a"}}, Duration::max());
    CHECK(expect<RedriveMachine::Receive>(machine).wait > 24h);
    CHECK(expect<RedriveMachine::Receive>(machine, start + 1000h).wait > 24h);
}

TEST_CASE("redrive machine: a session is taken when all its dead letters are in hand") {
    auto machine = planned({{1, "a"}, {2, "b"}, {3, "a"}});
    CHECK(machine.report().selected == 3);
    CHECK(expect<RedriveMachine::Receive>(machine).wait == 60s);
    receive(machine, {1, 2});
    CHECK_FALSE(machine.received(9, start)); // the filter leaves it
    enter(machine, "b");
    send(machine, {2});
    complete(machine, {2});
    leave(machine);
    static_cast<void>(expect<RedriveMachine::Receive>(machine));
    receive(machine, {3});
    enter(machine, "a");
    send(machine, {1, 3});
    complete(machine, {1, 3});
    leave(machine);
    static_cast<void>(expect<RedriveMachine::Finish>(machine));
    CHECK(machine.report().sent == 3);
    CHECK(machine.report().sessions == 2);
    CHECK(machine.report().left == 0);
}

TEST_CASE("redrive machine: what fits is sent and completed before the next") {
    auto machine = planned({{1, "a"}, {2, "a"}, {3, "a"}});
    receive(machine, {1, 2, 3});
    enter(machine, "a");
    CHECK(expect<RedriveMachine::Send>(machine).numbers == Numbers{1, 2, 3});
    machine.sent(1);
    complete(machine, {1});
    send(machine, {2, 3});
    complete(machine, {2, 3});
    leave(machine);
}

TEST_CASE("redrive machine: a copy that is found is not sent again") {
    auto machine = planned({{1, "a"}, {2, "a"}});
    receive(machine, {1, 2});
    static_cast<void>(expect<RedriveMachine::Hold>(machine));
    machine.held();
    static_cast<void>(expect<RedriveMachine::Look>(machine));
    machine.found_copy(1);
    machine.found_copy(77); // of a dead letter that is gone
    machine.looked();
    complete(machine, {1});
    send(machine, {2});
    complete(machine, {2});
    leave(machine);
    CHECK(machine.report().already_sent == 1);
    CHECK(machine.report().sent == 1);
}

TEST_CASE("redrive machine: sent and lost before its completion, it is only completed") {
    auto machine = planned({{1, "a"}, {2, "a"}});
    receive(machine, {1, 2});
    enter(machine, "a");
    send(machine, {1, 2});
    CHECK(expect<RedriveMachine::Complete>(machine).numbers == Numbers{1, 2});
    machine.lost(1);
    complete(machine, {2});
    leave(machine);
    static_cast<void>(expect<RedriveMachine::Receive>(machine));
    receive(machine, {1});
    static_cast<void>(expect<RedriveMachine::Hold>(machine));
    machine.held();
    complete(machine, {1});
    leave(machine);
    CHECK(machine.report().sent == 2);
    CHECK(machine.report().sessions == 1);
}

TEST_CASE("redrive machine: a dead letter that is lost before its send holds up the later ones") {
    auto machine = planned({{1, "a"}, {2, "a"}});
    receive(machine, {1, 2});
    enter(machine, "a");
    static_cast<void>(expect<RedriveMachine::Send>(machine));
    machine.lost(1);
    leave(machine);
    static_cast<void>(expect<RedriveMachine::Receive>(machine));
    receive(machine, {1});
    static_cast<void>(expect<RedriveMachine::Hold>(machine));
    machine.held();
    send(machine, {1, 2});
}

TEST_CASE("redrive machine: a session that another consumer holds is asked for again") {
    auto machine = planned({{1, "a"}, {2, "b"}}, 10s);
    receive(machine, {1, 2});
    CHECK(expect<RedriveMachine::Hold>(machine).session_id == "a");
    machine.busy(start);
    enter(machine, "b");
    send(machine, {2});
    complete(machine, {2});
    leave(machine);
    CHECK(expect<RedriveMachine::Receive>(machine).wait == RedriveMachine::ask_busy_again);
    machine.received_nothing();
    CHECK(expect<RedriveMachine::Hold>(machine, start + 1s).session_id == "a");
    machine.busy(start + 1s);
    CHECK(expect<RedriveMachine::Receive>(machine, start + 1s).wait == 1s);
    static_cast<void>(expect<RedriveMachine::Hold>(machine, start + 10s));
    machine.busy(start + 10s);
    static_cast<void>(expect<RedriveMachine::Finish>(machine, start + 10s));
    CHECK(machine.report().busy_sessions == 1);
    CHECK(machine.report().left == 1);
}

TEST_CASE("redrive machine: after the wait, what comes before a missing dead letter is sent") {
    auto machine = planned({{1, "a"}, {2, "a"}, {3, "a"}, {4, "b"}, {5, "b"}}, 10s);
    receive(machine, {1, 3, 5});
    CHECK(expect<RedriveMachine::Receive>(machine, start + 4s).wait == 6s);
    CHECK(expect<RedriveMachine::Receive>(machine, start + 20s).wait == 0s); // some may be there
    machine.received_nothing();
    const TimePoint over = start + 20s;
    static_cast<void>(expect<RedriveMachine::Hold>(machine, over));
    machine.held();
    static_cast<void>(expect<RedriveMachine::Look>(machine, over));
    machine.looked();
    CHECK(expect<RedriveMachine::Send>(machine, over).numbers == Numbers{1});
    machine.sent(1);
    static_cast<void>(expect<RedriveMachine::Complete>(machine, over));
    machine.completed(1, over);
    static_cast<void>(expect<RedriveMachine::Leave>(machine, over));
    machine.left();
    static_cast<void>(expect<RedriveMachine::Receive>(machine, over)); // progress: it waits again
    machine.received_nothing();
    CHECK(expect<RedriveMachine::Hold>(machine, over + 10s).session_id == "b");
    machine.held();
    static_cast<void>(expect<RedriveMachine::Look>(machine, over + 10s));
    machine.looked();
    static_cast<void>(expect<RedriveMachine::Leave>(machine, over + 10s)); // 4 is missing
    machine.left();
    static_cast<void>(expect<RedriveMachine::Finish>(machine, over + 10s));
    CHECK(machine.report().sent == 1);
    CHECK(machine.report().left == 4);
    CHECK(machine.report().sessions == 0);
}

TEST_CASE("redrive machine: an entity without sessions is looked through once") {
    auto machine = planned({{1, "a"}, {2, "b"}});
    receive(machine, {1, 2});
    CHECK(expect<RedriveMachine::Hold>(machine).session_id == "a");
    machine.cannot_hold();
    CHECK_FALSE(expect<RedriveMachine::Look>(machine).session_id);
    machine.found_copy(2);
    machine.looked();
    send(machine, {1});
    complete(machine, {1});
    leave(machine);
    complete(machine, {2}); // neither held nor looked for again
    leave(machine);
    static_cast<void>(expect<RedriveMachine::Finish>(machine));
    CHECK(machine.report().already_sent == 1);
}

TEST_CASE("redrive machine: a look into one session says nothing of another") {
    auto machine = planned({{1, "a"}, {2, "b"}});
    receive(machine, {1, 2});
    enter(machine, "a");
    send(machine, {1});
    complete(machine, {1});
    leave(machine);
    enter(machine, "b");
    send(machine, {2});
}

TEST_CASE("redrive machine: a session whose lock is lost is held again before the next send") {
    auto machine = planned({{1, "a"}});
    receive(machine, {1});
    enter(machine, "a");
    static_cast<void>(expect<RedriveMachine::Send>(machine));
    machine.hold_lost();
    static_cast<void>(expect<RedriveMachine::Hold>(machine));
    machine.held();
    send(machine, {1}); // its copies are known
    complete(machine, {1});
    leave(machine);
}

TEST_CASE("redrive machine: nothing was selected") {
    RedriveMachine machine{true, 60s, start};
    static_cast<void>(expect<RedriveMachine::Finish>(machine));
}

TEST_CASE(
    "redrive machine: R29: ids that differ in case only are one session, in the order of all") {
    RedriveMachine machine = planned({{1, "Ada"}, {2, "ada"}, {3, "ADA"}});
    receive(machine, {1, 3});
    static_cast<void>(expect<RedriveMachine::Receive>(machine)); // the second is missing
    receive(machine, {2});
    enter(machine, "Ada");
    send(machine, {1, 2, 3});
    complete(machine, {1, 2, 3});
    leave(machine);
    static_cast<void>(expect<RedriveMachine::Finish>(machine));
    CHECK(machine.report().sessions == 1);
}

TEST_CASE("redrive machine: a broker that delivers the same for ever does not keep it for ever") {
    auto machine = planned({{1, "a"}, {2, "b"}}, 10s);
    const auto answer = [&machine](std::initializer_list<Number> numbers, TimePoint now) {
        machine.received_nothing();
        for (const Number number : numbers) {
            static_cast<void>(machine.received(number, now));
        }
    };
    SUBCASE("dead letters that are not planned") {
        answer({9}, start);
        CHECK(expect<RedriveMachine::Receive>(machine, start + 20s).wait == 0s); // more may come
        answer({9}, start + 20s);
        static_cast<void>(expect<RedriveMachine::Finish>(machine, start + 20s));
    }
    SUBCASE("one that is in hand") {
        answer({9, 1}, start);
        enter(machine, "a");
        send(machine, {1});
        complete(machine, {1});
        leave(machine);
        answer({1, 9}, start + 20s); // the first was said to be completed
        answer({1, 9}, start + 20s);
        static_cast<void>(expect<RedriveMachine::Finish>(machine, start + 20s));
        CHECK(machine.report().left == 1);
    }
    SUBCASE("one whose lock is lost again and again") {
        auto now = start;
        std::size_t rounds = 0;
        answer({1}, now);
        enter(machine, "a");
        send(machine, {1});
        for (; rounds < 100; ++rounds) {
            const auto step = machine.next(now);
            if (std::holds_alternative<RedriveMachine::Finish>(step)) {
                break;
            }
            if (std::holds_alternative<RedriveMachine::Complete>(step)) {
                machine.lost(1);
            } else if (std::holds_alternative<RedriveMachine::Receive>(step)) {
                now += 6s;
                answer({1}, now);
            } else if (std::holds_alternative<RedriveMachine::Hold>(step)) {
                machine.held();
            } else {
                machine.left();
            }
        }
        CHECK(rounds < 100);
    }
}
