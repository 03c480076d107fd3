#include "processor/accept_rotation.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;
using processor::AcceptRotation;
using processor::TargetClaims;

namespace {

/// What the next choices are, in words: "entity" or "entity/session", "-" for none.
std::string choices(AcceptRotation& targets, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
        const auto chosen = targets.choose();
        text.append(text.empty() ? "" : " ");
        if (!chosen) {
            text.append("-");
            continue;
        }
        const auto& target = targets[*chosen];
        text.append(target.entity).append(target.session_id ? "/" + *target.session_id : "");
    }
    return text;
}

} // namespace

TEST_CASE("accept rotation: entities are asked in turn (DG9)") {
    AcceptRotation targets{{"a", "b", "c"}, {}};
    CHECK(targets.size() == 3);
    CHECK_FALSE(targets.named());
    CHECK(choices(targets, 7) == "a b c a b c a");
}

TEST_CASE("accept rotation: the entity with the fewest accepts under way comes first") {
    AcceptRotation targets{{"a", "b"}, {}};
    CHECK(choices(targets, 4) == "a b a b");
    targets.refused(1);
    targets.refused(1);
    CHECK(choices(targets, 3) == "b b a");
}

TEST_CASE("accept rotation: one slot alone goes round all entities") {
    AcceptRotation targets{{"a", "b", "c"}, {}};
    std::string order;
    for (int i = 0; i < 6; ++i) {
        const auto chosen = targets.choose();
        REQUIRE(chosen);
        order += targets[*chosen].entity;
        targets.refused(*chosen);
    }
    CHECK(order == "abcabc");
}

TEST_CASE(
    "accept rotation: a held session of an entity does not keep others from being asked for") {
    AcceptRotation targets{{"a"}, {}};
    const auto chosen = targets.choose();
    targets.held(*chosen);
    CHECK(choices(targets, 2) == "a a");
}

TEST_CASE("accept rotation: a named session is asked for once at a time and not while it is held") {
    AcceptRotation targets{{"a"}, {"x", "y"}};
    CHECK(targets.named());
    CHECK(choices(targets, 3) == "a/x a/y -");

    targets.refused(0);
    CHECK(choices(targets, 1) == "a/x");
    targets.held(0);
    CHECK(choices(targets, 1) == "-");
    targets.left(0);
    CHECK(choices(targets, 2) == "a/x -");
}

TEST_CASE("accept rotation: an accept waits for a turn only where slots are fewer than targets") {
    AcceptRotation entities{{"a", "b"}, {}};
    entities.set_slots(1, 9);
    CHECK(entities.wait(60s, 1s) == 1s);
    CHECK(entities.wait(500ms, 1s) == 500ms);
    entities.set_slots(2, 2);
    CHECK(entities.wait(60s, 1s) == 60s);
    AcceptRotation sessions{{"a"}, {"x", "y"}};
    sessions.set_slots(1, 2); // the other one is on another thread
    CHECK(sessions.wait(60s, 1s) == 60s);
    sessions.set_slots(1, 1);
    CHECK(sessions.wait(60s, 1s) == 1s);
}

TEST_CASE("accept rotation: named sessions may idle without end where there is a slot for each") {
    AcceptRotation sessions{{"a"}, {"x", "y"}};
    sessions.set_slots(1, 2);
    CHECK(sessions.idle_timeout(5s) == Duration::max());
    sessions.set_slots(1, 1);
    CHECK(sessions.idle_timeout(5s) == 5s);
    AcceptRotation entities{{"a"}, {}};
    entities.set_slots(4, 4);
    CHECK(entities.idle_timeout(5s) == 5s);
}

TEST_CASE("accept rotation: every entity is asked for every named session") {
    AcceptRotation targets{{"a", "b"}, {"x", "y"}};
    CHECK(targets.size() == 4);
    CHECK(choices(targets, 5) == "a/x a/y b/x b/y -");
}

TEST_CASE("accept rotation: the empty id is a name too") {
    AcceptRotation targets{{"a"}, {""}};
    CHECK(targets.named());
    CHECK(choices(targets, 2) == "a/ -");
}

TEST_CASE("accept rotation: a named session that another thread asks for is passed over until that "
          "one lets go") {
    int released = 0;
    TargetClaims claims{2, [&] { ++released; }};
    AcceptRotation here{{"a"}, {"x", "y"}, &claims};
    AcceptRotation there{{"a"}, {"x", "y"}, &claims};
    CHECK(choices(here, 1) == "a/x");
    CHECK(choices(there, 2) == "a/y -");
    here.held(0);
    CHECK(choices(there, 1) == "-");
    CHECK(released == 0);
    here.left(0);
    CHECK(released == 1);
    CHECK(choices(there, 1) == "a/x");
    there.refused(0);
    there.refused(1);
    CHECK(choices(here, 3) == "a/y a/x -");
}
