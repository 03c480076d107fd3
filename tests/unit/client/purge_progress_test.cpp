// SPDX-License-Identifier: MIT
#include "client/purge_progress.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using client::PurgeProgress;

TEST_CASE("purge progress: without a limit it asks until nothing is deleted") {
    PurgeProgress progress{0};
    CHECK(progress.next() == 500);
    CHECK(progress.add(500));
    CHECK(progress.add(1)); // a broker may delete fewer than there are
    CHECK(progress.next() == 500);
    CHECK_FALSE(progress.add(0));
    CHECK(progress.deleted() == 501);
}

TEST_CASE("purge progress: a limit bounds the requests, and ends the purge when it is reached") {
    PurgeProgress progress{700};
    CHECK(progress.next() == 500);
    CHECK(progress.add(500));
    CHECK(progress.next() == 200);
    CHECK_FALSE(progress.add(200));
    CHECK_FALSE(PurgeProgress{10}.add(11)); // more than was asked for
    CHECK(PurgeProgress{10}.next() == 10);
}

TEST_CASE("purge progress: a failure says what was deleted before") {
    PurgeProgress progress{0};
    CHECK(progress.describe({.code = Errc::timeout}).detail.empty());
    CHECK(progress.add(500));
    CHECK(progress.describe({.code = Errc::timeout}).detail == "500 messages were deleted before");
    const Failure why = progress.describe({.code = Errc::connection_lost, .detail = "why"});
    CHECK(why.code == Errc::connection_lost);
    CHECK(why.detail == "why; 500 messages were deleted before");
}
