// SPDX-License-Identifier: MIT
#include "processor/slots/target_book.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;
using detail::processor::TargetBook;
using detail::processor::TargetClaims;

namespace {

TargetClaims claims{8, [] {}};

std::string list(const TargetBook& targets) {
    std::string text;
    for (std::size_t i = 0; i < targets.size(); ++i) {
        text.append(text.empty() ? "" : " ").append(targets[i].entity);
        text.append(targets[i].session_id ? "/" + *targets[i].session_id : "");
    }
    return text;
}

} // namespace

TEST_CASE("target book: the entities, or every named session at each of them") {
    CHECK(list(TargetBook{{"a", "b"}, {}}) == "a b");
    CHECK_FALSE(TargetBook{{"a", "b"}, {}}.named());
    const TargetBook sessions{{"a", "b"}, {"x", ""}, &claims};
    CHECK(list(sessions) == "a/x a/ b/x b/"); // the empty id is a name too
    CHECK(sessions.named());
}

TEST_CASE("target book: entities are asked together, until each is asked by itself") {
    TargetBook entities{{"a", "b", "c"}, {}};
    CHECK(entities.only_entity().empty());
    entities.join();
    CHECK(list(entities) == "a");
    CHECK(entities[0].entity_at(0) == "a");
    CHECK(entities[0].entity_at(2) == "c");
    CHECK(entities.only_entity().empty());
    CHECK(entities.split());
    CHECK(list(entities) == "a b c");
    CHECK_FALSE(entities.split());

    TargetBook one{{"a"}, {}};
    one.join();
    CHECK(one.only_entity() == "a");
    CHECK_FALSE(one.split());
    TargetBook sessions{{"a"}, {"x", "y"}, &claims};
    sessions.join();
    CHECK(list(sessions) == "a/x a/y");
}

TEST_CASE("target book: an accept waits for a turn only where named sessions take turns") {
    TargetBook entities{{"a", "b"}, {}};
    entities.set_slots(1, 9);
    CHECK(entities.wait(60s, 1s) == 60s);
    TargetBook sessions{{"a"}, {"x", "y"}, &claims};
    sessions.set_slots(1, 2); // the other one is on another thread
    CHECK(sessions.wait(60s, 1s) == 60s);
    sessions.set_slots(1, 1);
    CHECK(sessions.wait(60s, 1s) == 1s);
    CHECK(sessions.wait(500ms, 1s) == 500ms);
}

TEST_CASE("target book: named sessions may idle without end where there is a slot for each") {
    TargetBook sessions{{"a"}, {"x", "y"}, &claims};
    sessions.set_slots(1, 2);
    CHECK(sessions.idle_timeout(5s) == Duration::max());
    sessions.set_slots(1, 1);
    CHECK(sessions.idle_timeout(5s) == 5s);
    TargetBook entities{{"a"}, {}};
    entities.set_slots(4, 4);
    CHECK(entities.idle_timeout(5s) == 5s);
}

TEST_CASE("target book: a named session is one thread's at a time, an entity is everyone's") {
    int released = 0;
    TargetClaims shared{1, [&] { ++released; }};
    TargetBook here{{"a"}, {"x"}, &shared};
    TargetBook there{{"a"}, {"x"}, &shared};
    CHECK(here.try_claim(0));
    CHECK_FALSE(there.try_claim(0));
    here.release(0);
    CHECK(released == 1);
    CHECK(there.try_claim(0));
    TargetBook entities{{"a"}, {}};
    CHECK(entities.try_claim(0));
    CHECK(entities.try_claim(0));
}
