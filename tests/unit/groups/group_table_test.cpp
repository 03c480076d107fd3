// SPDX-License-Identifier: MIT
#include "groups/group_table.hpp"

#include <cstddef>

#include <doctest/doctest.h>

using namespace sessionq;
using namespace sessionq::groups;

namespace {

struct Table {
    GroupTable table{};
    std::max_align_t places[8]{};

    /// Sessions are names to a table.
    GroupLink& session(int number) { return *reinterpret_cast<GroupLink*>(&places[number]); }
    Held& arrive(std::string_view group) { return table.arrived(group, {}, {}, 10); }
    std::vector<std::uint64_t> orders(const std::vector<Held*>& list) {
        std::vector<std::uint64_t> orders;
        for (const Held* held : list) {
            orders.push_back(held->order);
        }
        return orders;
    }
    std::vector<std::uint64_t> give_all(Group& group) {
        std::vector<Held*> given;
        while (Held* held = table.next_for(group)) {
            given.push_back(held);
        }
        return orders(given);
    }
    using Orders = std::vector<std::uint64_t>;
};

} // namespace

TEST_CASE("group table: groups are taken in the order in which they became ready, each once") {
    Table t;
    t.arrive("b");
    t.arrive("a");
    t.arrive("b");
    CHECK(t.table.take_ready(t.session(0)).id == "b");
    CHECK(t.table.take_ready(t.session(1)).id == "a");
    CHECK_FALSE(t.table.has_ready());
    t.arrive("a");
    CHECK_FALSE(t.table.has_ready());
}

TEST_CASE("group table: messages of a group are given in the order they came") {
    Table t;
    t.arrive("a");
    t.arrive("b");
    t.arrive("a");
    Group& group = t.table.take_ready(t.session(0));
    CHECK(t.give_all(group) == Table::Orders{1, 3});
    t.arrive("a");
    CHECK(t.give_all(group) == Table::Orders{4});
}

TEST_CASE("group table: messages that a session did not settle wait again in order, for the next "
          "session") {
    Table t;
    for (int i = 0; i < 4; ++i) {
        t.arrive("a");
    }
    Group& group = t.table.take_ready(t.session(0));
    Held* first = t.table.next_for(group);
    static_cast<void>(t.table.next_for(group));
    static_cast<void>(t.table.next_for(group));
    t.table.remove(*first);
    t.table.give_back(group);
    CHECK(t.table.has_ready());
    Group& again = t.table.take_ready(t.session(1));
    CHECK(t.give_all(again) == Table::Orders{2, 3, 4});
}

TEST_CASE(
    "group table: a released message goes back to its place, whatever the order of releases") {
    Table t;
    for (int i = 0; i < 4; ++i) {
        t.arrive("a");
    }
    Group& group = t.table.take_ready(t.session(0));
    Held* one = t.table.next_for(group);
    Held* two = t.table.next_for(group);
    Held* three = t.table.next_for(group);
    t.table.undo(*two);
    t.table.undo(*three);
    t.table.undo(*one);
    CHECK(t.give_all(group) == Table::Orders{1, 2, 3, 4});
}

TEST_CASE("group table: R6: after a failure the group gives nothing until the failed message and "
          "all behind it are back at the broker") {
    Table t;
    for (int i = 0; i < 3; ++i) {
        t.arrive("a");
    }
    t.arrive("b");
    Group& group = t.table.take_ready(t.session(0));
    Held* one = t.table.next_for(group);
    Held* two = t.table.next_for(group);
    t.table.undo(*two);
    t.table.fail(*one, {});
    CHECK(t.table.next_for(group) == nullptr);
    t.arrive("a"); // crossed
    const std::vector<Held*> back = t.table.take_returning();
    CHECK(t.orders(back) == Table::Orders{1, 2, 3, 5});
    CHECK(back[0]->failed);
    CHECK_FALSE(back[1]->failed);
    for (Held* held : back) {
        t.table.remove(*held);
    }
    CHECK(t.table.take_returning().empty());
    t.arrive("a");
    CHECK(t.give_all(group) == Table::Orders{6});
    CHECK(t.table.take_ready(t.session(1)).id == "b"); // untouched
}

TEST_CASE("group table: a group that returns is not ready before its messages are back, also when "
          "its session ends") {
    Table t;
    t.arrive("a");
    Group& group = t.table.take_ready(t.session(0));
    t.table.fail(*t.table.next_for(group), {});
    t.table.give_back(group);
    CHECK_FALSE(t.table.has_ready());
    for (Held* held : t.table.take_returning()) {
        t.table.remove(*held);
    }
    CHECK(t.table.is_empty());
}

TEST_CASE("group table: a group stays while a settlement is unanswered, and is forgotten then") {
    Table t;
    t.arrive("a");
    Group& group = t.table.take_ready(t.session(0));
    Held* held = t.table.next_for(group);
    CHECK(held->place == Held::Place::given);
    t.table.settle(*held, {});
    CHECK(held->place == Held::Place::settling);
    int seen = 0;
    t.table.visit_given([&](const Held& each) { seen += &each == held ? 1 : 0; });
    CHECK(seen == 1);
    t.table.give_back(group);
    CHECK_FALSE(t.table.is_empty());
    CHECK_FALSE(t.table.has_ready());
    CHECK(held->place == Held::Place::settling);
    t.table.remove(*held);
    CHECK(held->place == Held::Place::waiting);
    CHECK(t.table.is_empty());
}

TEST_CASE("group table: sequence numbers for messages without one rise") {
    Table t;
    CHECK(t.table.next_sequence_number() == 1);
    CHECK(t.table.next_sequence_number() == 2);
}

TEST_CASE(
    "group table: messages that no session holds go back in order when the link is given up") {
    Table t;
    t.arrive("b");
    t.arrive("a");
    t.arrive("b");
    t.arrive("c");
    Group& held = t.table.take("c", t.session(0));
    const std::vector<Held*> waiting = t.table.take_waiting();
    CHECK(t.orders(waiting) == Table::Orders{1, 2, 3});
    for (Held* each : waiting) {
        t.table.remove(*each);
    }
    CHECK_FALSE(t.table.has("a"));
    CHECK_FALSE(t.table.has("b"));
    CHECK(t.table.has("c"));
    CHECK(t.give_all(held) == Table::Orders{4});
}

TEST_CASE("group table: a named group can be taken before its first message") {
    Table t;
    Group& group = t.table.take("a", t.session(0));
    CHECK(t.table.has("a"));
    t.arrive("a");
    CHECK_FALSE(t.table.has_ready());
    CHECK(t.give_all(group) == Table::Orders{1});
}

TEST_CASE("group table: after a loss the table is empty and usable") {
    Table t;
    t.arrive("a");
    t.arrive("b");
    static_cast<void>(t.table.take_ready(t.session(0)));
    t.table.lose_all();
    CHECK(t.table.is_empty());
    CHECK_FALSE(t.table.has_ready());
    t.arrive("a");
    CHECK(t.table.take_ready(t.session(1)).id == "a");
}

TEST_CASE("group table: after a loss it keeps no message") {
    GroupTable table;
    const auto content = std::make_shared<DecodedContent>(Message{.body = "b"});
    table.arrived("a", {}, ReceivedMessage{content, {}}, 10);
    CHECK(content.use_count() == 2);
    table.lose_all();
    CHECK(content.use_count() == 1);
}

TEST_CASE("group table: a group rests when its session has had messages and none is in hand") {
    Table t;
    CHECK(t.table.resting("a") == nullptr);
    Held& first = t.arrive("a");
    CHECK(t.table.resting("a") == nullptr); // nobody holds it
    Group& group = t.table.take_ready(t.session(1));
    CHECK(t.table.resting("a") == nullptr);
    REQUIRE(t.table.next_for(group) == &first);
    CHECK(t.table.resting("a") == nullptr); // in hand
    t.table.settle(first, {});
    CHECK(t.table.resting("a") == nullptr); // the broker has not answered
    t.table.remove(first);
    CHECK(t.table.resting("a") == &t.session(1));
    t.arrive("a");
    CHECK(t.table.resting("a") == nullptr); // the next one waits
}

TEST_CASE("group table: a group whose session was given nothing does not rest") {
    Table t;
    Group& named = t.table.take("a", t.session(1));
    CHECK(t.table.resting("a") == nullptr);
    Held& first = t.arrive("a");
    REQUIRE(t.table.next_for(named) == &first);
    t.table.remove(first);
    CHECK(t.table.resting("a") == &t.session(1));
    t.table.give_back(named); // and the one after it begins anew
    static_cast<void>(t.table.take("a", t.session(2)));
    CHECK(t.table.resting("a") == nullptr);
}

TEST_CASE("group table: a late answer to the session before does not let a group rest") {
    Table t;
    Held& first = t.arrive("a");
    Group& group = t.table.take_ready(t.session(1));
    REQUIRE(t.table.next_for(group) == &first);
    t.table.settle(first, {});
    t.table.give_back(group);
    static_cast<void>(t.table.take("a", t.session(2)));
    t.table.remove(first);
    CHECK(t.table.resting("a") == nullptr);
}

TEST_CASE("group table: a group is held by the session that took it, until that gives it back") {
    Table t;
    CHECK(t.table.holder("a") == nullptr);
    Group& group = t.table.take("a", t.session(3));
    CHECK(t.table.holder("a") == &t.session(3));
    t.arrive("a");
    t.table.give_back(group);
    CHECK(t.table.holder("a") == nullptr);
    CHECK(t.table.has("a"));
}

TEST_CASE("group table: R23: the window holds the bytes of messages that are not settled") {
    Table t;
    for (int i = 0; i < 4; ++i) {
        t.arrive("a");
    }
    CHECK(t.table.window().held_bytes() == 40);
    Group& group = t.table.take_ready(t.session(0));
    Held* const one = t.table.next_for(group);
    Held* const two = t.table.next_for(group);
    t.table.remove(*one);
    CHECK(t.table.window().held_bytes() == 30);
    t.table.settle(*two, {});
    CHECK(t.table.window().held_bytes() == 20); // the broker will answer
    t.table.remove(*two);
    CHECK(t.table.window().held_bytes() == 20); // once
    t.table.give_back(group);
    for (Held* const each : t.table.take_waiting()) {
        t.table.remove(*each);
    }
    CHECK(t.table.window().held_bytes() == 0);
    t.arrive("a");
    t.table.lose_all();
    CHECK(t.table.window().held_bytes() == 0);
}
