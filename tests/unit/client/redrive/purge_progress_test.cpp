// SPDX-License-Identifier: MIT
#include "client/redrive/purge_progress.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using detail::client::PurgeProgress;
using Next = PurgeProgress::Next;

TEST_CASE("purge progress: without a limit it asks until nothing is deleted") {
    PurgeProgress progress{0};
    CHECK(progress.next() == 500);
    CHECK(progress.add(500) == Next::ask);
    CHECK(progress.add(1) == Next::ask); // a broker may delete fewer than there are
    CHECK(progress.next() == 500);
    CHECK(progress.add(0) == Next::done);
    CHECK(progress.deleted() == 501);
}

TEST_CASE("purge progress: a limit bounds the requests, and ends the purge when it is reached") {
    PurgeProgress progress{700};
    CHECK(progress.next() == 500);
    CHECK(progress.add(500) == Next::ask);
    CHECK(progress.next() == 200);
    CHECK(progress.add(200) == Next::done);
    CHECK(PurgeProgress{10}.add(11) == Next::done); // more than was asked for
    CHECK(PurgeProgress{10}.next() == 10);
}

TEST_CASE("purge progress: a failure says what was deleted before") {
    PurgeProgress progress{0};
    CHECK(progress.describe({.code = Errc::timeout}).detail.empty());
    CHECK(progress.add(500) == Next::ask);
    CHECK(progress.describe({.code = Errc::timeout}).detail == "500 messages were deleted before");
    const Failure why = progress.describe({.code = Errc::connection_lost, .detail = "why"});
    CHECK(why.code == Errc::connection_lost);
    CHECK(why.detail == "why; 500 messages were deleted before");
}

TEST_CASE("purge progress: a broker that deletes next to nothing again and again is found out") {
    PurgeProgress progress{0};
    for (std::uint32_t i = 0; i < PurgeProgress::most_small; ++i) {
        CHECK(progress.add(1) == Next::ask);
    }
    SUBCASE("at once") { CHECK(progress.add(1) == Next::no_progress); }
    SUBCASE("but not where it has deleted more meanwhile") {
        CHECK(progress.add(PurgeProgress::per_request / PurgeProgress::small_share + 1) ==
              Next::ask);
        CHECK(progress.add(1) == Next::ask);
    }
    SUBCASE("and its end is an end") { CHECK(progress.add(0) == Next::done); }
}
