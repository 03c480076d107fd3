// SPDX-License-Identifier: MIT
#include "processor/lifecycle.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/phase_table.hpp"

using namespace sessionq;
using detail::processor::Lifecycle;
using State = Lifecycle::State;

TEST_CASE("lifecycle: it starts once, and not after it was stopped") {
    Lifecycle life{1};
    CHECK(life.state() == State::created);
    CHECK(life.start());
    CHECK(life.state() == State::running);
    CHECK_FALSE(life.start());
    Lifecycle never{1};
    CHECK_FALSE(never.stop());
    CHECK(never.state() == State::stopped);
    CHECK(never.report().complete);
    CHECK_FALSE(never.start());
}

TEST_CASE("lifecycle: R18: it has stopped when the last shard has, and reports of all of them") {
    Lifecycle life{2};
    CHECK(life.start());
    CHECK(life.stop());
    CHECK(life.stop()); // again: not yet
    CHECK(life.state() == State::stopping);
    CHECK_FALSE(life.shard_stopped({.complete = true, .drained = 1, .released = 2, .sessions = 3}));
    CHECK(life.state() == State::stopping);
    CHECK(life.shard_stopped({.drained = 10, .released = 20, .left = 1, .sessions = 30}));
    CHECK(life.state() == State::stopped);
    CHECK_FALSE(life.report().complete);
    CHECK(life.report().drained == 11);
    CHECK(life.report().released == 22);
    CHECK(life.report().left == 1);
    CHECK(life.report().sessions == 33);
    CHECK_FALSE(life.ends_soon()); // a handler is left
    CHECK_FALSE(life.stop());      // once more: `report` says how
    CHECK_FALSE(life.shard_gone());
    CHECK(life.shard_gone());
}

TEST_CASE("lifecycle: it ends soon once all shards have stopped and no handler is left") {
    Lifecycle life{2};
    CHECK(life.start());
    CHECK(life.stop());
    CHECK_FALSE(life.shard_stopped({.complete = true}));
    CHECK_FALSE(life.ends_soon());
    CHECK(life.shard_stopped({.complete = true}));
    CHECK(life.ends_soon());
}

TEST_CASE("lifecycle: every input in every state") {
    using Input = bool (*)(Lifecycle&);
    constexpr Input start = [](Lifecycle& life) { return life.start(); };
    constexpr Input pause = [](Lifecycle& life) { return life.pause(); };
    constexpr Input resume = [](Lifecycle& life) { return life.resume(); };
    constexpr Input stop = [](Lifecycle& life) { return life.stop(); };
    constexpr Input stopped = [](Lifecycle& life) {
        return life.shard_stopped({.complete = true});
    };
    const std::vector<std::vector<Input>> ways{
        {}, {start}, {start, pause}, {start, pause, stop}, {start, stop, stopped}};
    const std::vector<Input> inputs{start, pause, resume, stop};
    struct Cell {
        bool acts; ///< the shards are told
        State state;
    };
    const Cell expected[5][4] = {
        {{true, State::running},
         {false, State::created},
         {false, State::created},
         {false, State::stopped}},
        {{false, State::running},
         {true, State::paused},
         {false, State::running},
         {true, State::stopping}},
        {{false, State::paused},
         {false, State::paused},
         {true, State::running},
         {true, State::stopping}},
        {{false, State::stopping},
         {false, State::stopping},
         {false, State::stopping},
         {true, State::stopping}},
        {{false, State::stopped},
         {false, State::stopped},
         {false, State::stopped},
         {false, State::stopped}},
    };
    test::PhaseTable table{"lifecycle",
                           {"created", "running", "paused", "stopping", "stopped"},
                           {"start", "pause", "resume", "stop"}};
    for (std::size_t phase = 0; phase < ways.size(); ++phase) {
        for (std::size_t input = 0; input < inputs.size(); ++input) {
            CAPTURE(phase);
            CAPTURE(input);
            Lifecycle life{1};
            for (const Input step : ways[phase]) {
                CHECK(step(life));
            }
            REQUIRE(static_cast<std::size_t>(life.state()) == phase);
            CHECK(life.is_in_use() == (phase == 1 || phase == 2));
            CHECK(inputs[input](life) == expected[phase][input].acts);
            CHECK(life.state() == expected[phase][input].state);
            table.reached(phase, input);
        }
    }
    table.check();
}
