// SPDX-License-Identifier: MIT
#include "server/journal_pace.hpp"

#include <doctest/doctest.h>

#include <string>

#include "support/held_journal.hpp"
#include "support/manual_loop.hpp"

using namespace sessionq;
using namespace sessionq::test;
using namespace std::chrono_literals;

namespace {

struct Fixture {
    ManualLoop loop{};
    HeldJournal journal{};
    core::TurnLine turns{loop};
    std::string ran{};

    void add(char name) {
        turns.add([this, name] { ran += name; });
    }
    void pass(Duration length) {
        loop.advance(length);
        loop.run_until_idle();
    }
};

} // namespace

TEST_CASE("journal pace: long work waits until the journal has caught up") {
    Fixture f;
    const server::JournalPace pace{&f.journal, f.loop, f.turns};
    f.add('a');
    f.loop.run_until_idle();
    CHECK(f.ran == "a");
    f.journal.behind = true;
    f.add('b');
    f.add('c');
    f.loop.run_until_idle();
    f.pass(5ms);
    CHECK(f.ran == "a");
    f.journal.behind = false;
    f.pass(5ms);
    CHECK(f.ran == "abc");
}

TEST_CASE("journal pace: a turn waits at most so long for a journal that stays behind") {
    Fixture f;
    const server::JournalPace pace{&f.journal, f.loop, f.turns};
    f.journal.behind = true;
    f.add('a');
    f.add('b');
    f.pass(server::JournalPace::longest - 1ms);
    CHECK(f.ran.empty());
    f.pass(3ms);
    CHECK(f.ran == "a");
    f.pass(server::JournalPace::longest + 3ms);
    CHECK(f.ran == "ab");
}

TEST_CASE("journal pace: without a journal, and once it is gone, nothing is held back") {
    Fixture f;
    {
        const server::JournalPace none{nullptr, f.loop, f.turns};
        f.add('a');
        f.loop.run_until_idle();
        CHECK(f.ran == "a");
        const server::JournalPace pace{&f.journal, f.loop, f.turns};
    }
    f.journal.behind = true;
    f.add('b');
    f.loop.run_until_idle();
    CHECK(f.ran == "ab");
}
