// SPDX-License-Identifier: MIT
#include "processor/session/suspect_turn.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <utility>

#include "support/manual_loop.hpp"

using namespace sessionq;
using detail::processor::SuspectTurn;

namespace {

/// Holders have the names of letters.
struct SuspectBench {
    void take(char name) { turn.take(holder(name), loop, false, noting(name)); }
    void take_alone(char name) { turn.take(holder(name), loop, true, noting(name)); }
    void ended(char name) { turn.ended(holder(name)); }

    [[nodiscard]] SuspectTurn::Holder holder(char name) const { return &names.at(name - 'a'); }
    core::Task noting(char name) {
        return [this, name] { begun += name; };
    }
    /// Those whose turns have begun since it was asked last.
    std::string take_begun() {
        loop.run_until_idle();
        return std::exchange(begun, {});
    }

    std::array<char, 26> names{};
    test::ManualLoop loop{};
    SuspectTurn turn{};
    std::string begun{};
};

} // namespace

TEST_CASE("suspect turn: R9: suspects that are far from condemned have their turns side by side") {
    SuspectBench bench;
    bench.take('a');
    CHECK(bench.begun.empty()); // posted, not run here
    CHECK(bench.take_begun() == "a");
    bench.take('b');
    bench.take('c');
    CHECK(bench.take_begun() == "bc");
}

TEST_CASE("suspect turn: R9: one that is to be alone waits for all before it, and others for it") {
    SuspectBench bench;
    bench.take('a');
    bench.take('b');
    bench.take_alone('c');
    bench.take('d');
    bench.take('e');
    CHECK(bench.take_begun() == "ab");
    bench.ended('b');
    CHECK(bench.take_begun().empty());
    bench.ended('a');
    CHECK(bench.take_begun() == "c");
    bench.ended('c');
    CHECK(bench.take_begun() == "de");
}

TEST_CASE(
    "suspect turn: R9: of those that are to be alone one has its turn, in the order of asking") {
    SuspectBench bench;
    bench.take_alone('a');
    bench.take_alone('b');
    bench.take('c');
    bench.take_alone('d');
    CHECK(bench.take_begun() == "a");
    bench.ended('a');
    CHECK(bench.take_begun() == "b");
    bench.take('e'); // no earlier than those that wait
    bench.ended('b');
    CHECK(bench.take_begun() == "c");
    bench.ended('c');
    CHECK(bench.take_begun() == "d");
    bench.ended('d');
    CHECK(bench.take_begun() == "e");
}

TEST_CASE("suspect turn: one that ends before its turn has come is passed over") {
    SuspectBench bench;
    bench.take_alone('a');
    bench.take_alone('b');
    bench.take('c');
    CHECK(bench.take_begun() == "a");
    bench.ended('b');
    CHECK(bench.take_begun().empty());
    bench.ended('a');
    CHECK(bench.take_begun() == "c");
}

TEST_CASE("suspect turn: those that waited for one that does not wait any more begin at once") {
    SuspectBench bench;
    bench.take('a');
    bench.take_alone('b');
    bench.take('c');
    CHECK(bench.take_begun() == "a");
    bench.ended('b');
    CHECK(bench.take_begun() == "c");
}

TEST_CASE("suspect turn: a holder that asks again does so behind the others") {
    SuspectBench bench;
    bench.take_alone('a');
    bench.take_alone('b');
    bench.ended('a');
    bench.take_alone('a');
    CHECK(bench.take_begun() == "ab");
    bench.ended('b');
    CHECK(bench.take_begun() == "a");
}

TEST_CASE("suspect turn: an end without a turn changes nothing") {
    SuspectBench bench;
    bench.ended('a');
    bench.take_alone('a');
    bench.take('b');
    bench.ended('c');
    CHECK(bench.take_begun() == "a");
}

TEST_CASE("suspect turn: each begins on its own loop") {
    SuspectBench here;
    test::ManualLoop there;
    here.take('a');
    here.turn.take(here.holder('b'), there, false, here.noting('b'));
    CHECK(here.take_begun() == "a");
    there.run_until_idle();
    CHECK(here.begun == "b");
}
