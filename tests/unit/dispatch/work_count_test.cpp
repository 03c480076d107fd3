// SPDX-License-Identifier: MIT
#include "dispatch/work_count.hpp"

#include <doctest/doctest.h>

using sessionq::dispatch::WorkCount;

TEST_CASE("work count: works that wait count for the work that is there") {
    WorkCount count;
    CHECK_FALSE(count.add(0, 8));
    CHECK(count.add(2, 8));
    CHECK(count.add(2, 8));
    CHECK_FALSE(count.add(2, 8));
    CHECK(count.add(3, 8));
    CHECK(count.waiting() == 3);
    count.begin();
    CHECK(count.waiting() == 2);
    CHECK(count.running() == 1);
    CHECK_FALSE(count.add(2, 8));
    CHECK(count.add(3, 8)); // the one that runs counts for none
}

TEST_CASE("work count: no more are out than there may be, waiting or running") {
    WorkCount count;
    CHECK(count.add(9, 2));
    count.begin();
    CHECK(count.add(9, 2));
    CHECK_FALSE(count.add(9, 2));
    count.end();
    CHECK(count.add(9, 2));
    CHECK_FALSE(count.add(9, 1)); // the bound has fallen
    count.drop();
    count.drop();
    CHECK(count.waiting() == 0);
    CHECK(count.running() == 0);
}

TEST_CASE("work count: none is added while the executor rests, and the others go on") {
    WorkCount count;
    CHECK(count.add(1, 8));
    count.rest();
    count.rest();
    CHECK_FALSE(count.add(9, 8));
    CHECK(count.waiting() == 1);
    count.begin();
    count.end();
    CHECK_FALSE(count.add(1, 8));
    count.go_on();
    CHECK(count.add(1, 8));
}
