#include <doctest/doctest.h>

#include "unit/broker/queue_fixture.hpp"

using namespace sessionq;
using namespace sessionq::test;
using broker::Outcome;

TEST_CASE("session queue: messages of a session come in order, and complete removes them") {
    QueueFixture f;
    f.send("a", {"1", "2"});
    f.send("b", {"x"});
    f.send("a", {"3"});
    const auto a = f.accept("a");
    REQUIRE(a->consumer);
    const auto got = f.pull(*a);
    CHECK(f.text_of(got) == "1 2 3");
    CHECK(got[0].message.sequence_number() == 1);
    CHECK(got[2].message.sequence_number() == 4);
    CHECK(got[0].message.delivery_count() == 0);
    CHECK_FALSE(got[0].message.facts().redelivered);
    for (const auto& delivered : got) {
        CHECK_FALSE(f.settle(*a, delivered, Outcome::complete));
    }
    CHECK(f.peek_text(*f.queue) == "x");
    f.close(*a);
    CHECK(f.queue->counts(f.at).sessions == 1);
}

TEST_CASE("session queue: a held session is refused to others until it is closed") {
    QueueFixture f;
    const auto first = f.accept("a");
    REQUIRE(first->consumer);
    CHECK(f.accept("a")->refused == Errc::session_locked_elsewhere);
    f.close(*first);
    CHECK(f.accept("a")->consumer);
}

TEST_CASE("session queue: close returns what is in hand in its position, uncounted") {
    QueueFixture f;
    f.send("a", {"1", "2", "3", "4"});
    const auto first = f.accept("a");
    const auto got = f.pull(*first, 3);
    f.settle(*first, got[1], Outcome::complete);
    f.close(*first);
    const auto second = f.accept(std::nullopt);
    REQUIRE(second->consumer);
    const auto again = f.pull(*second);
    CHECK(f.text_of(again) == "1 3 4");
    CHECK(again[0].message.delivery_count() == 0);
    CHECK(again[0].message.facts().redelivered);
    CHECK_FALSE(again[2].message.facts().redelivered);
}

TEST_CASE("session queue: what is pulled short is told when there is more, once") {
    QueueFixture f;
    const auto a = f.accept("a");
    CHECK(f.pull_text(*a).empty());
    f.send("a", {"1"});
    f.send("a", {"2"});
    CHECK(a->notified == 1);
    CHECK(f.pull_text(*a) == "1 2");
    f.send("a", {"3"});
    CHECK(a->notified == 2);
}
