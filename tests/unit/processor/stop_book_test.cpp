// SPDX-License-Identifier: MIT
#include "processor/stop_book.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using processor::StopBook;
using State = StopBook::State;

TEST_CASE("stop book: it starts once, and not after it was stopped") {
    StopBook book{1};
    CHECK(book.state() == State::created);
    CHECK(book.start());
    CHECK(book.state() == State::running);
    CHECK_FALSE(book.start());
    StopBook never{1};
    CHECK_FALSE(never.stop());
    CHECK(never.state() == State::stopped);
    CHECK(never.report().complete);
    CHECK_FALSE(never.start());
}

TEST_CASE("stop book: R18: it has stopped when the last shard has, and reports of all of them") {
    StopBook book{2};
    CHECK(book.start());
    CHECK(book.stop());
    CHECK(book.stop()); // again: not yet
    CHECK(book.state() == State::stopping);
    CHECK_FALSE(book.shard_stopped({.complete = true, .drained = 1, .released = 2, .sessions = 3}));
    CHECK(book.state() == State::stopping);
    CHECK(book.shard_stopped({.drained = 10, .released = 20, .left = 1, .sessions = 30}));
    CHECK(book.state() == State::stopped);
    CHECK_FALSE(book.report().complete);
    CHECK(book.report().drained == 11);
    CHECK(book.report().released == 22);
    CHECK(book.report().left == 1);
    CHECK(book.report().sessions == 33);
    CHECK_FALSE(book.stop()); // once more: `report` says how
    CHECK_FALSE(book.shard_gone());
    CHECK(book.shard_gone());
}
