// SPDX-License-Identifier: MIT
#include "groups/unanswered_ids.hpp"

#include <doctest/doctest.h>

using sessionq::groups::UnansweredIds;

TEST_CASE("unanswered ids: messages held or settled lately when the connection was lost are "
          "recognised, once") {
    UnansweredIds ids;
    ids.settled("settled");
    CHECK_FALSE(ids.comes_again("settled")); // not lost yet
    ids.held("held");
    ids.lost();
    CHECK(ids.comes_again("settled"));
    CHECK(ids.comes_again("held"));
    CHECK_FALSE(ids.comes_again("settled"));
    CHECK_FALSE(ids.comes_again("never seen"));
}

TEST_CASE("unanswered ids: messages without an id are not recognised") {
    UnansweredIds ids;
    ids.settled("");
    ids.held("");
    ids.lost();
    CHECK_FALSE(ids.comes_again(""));
}

TEST_CASE("unanswered ids: they are bounded, and the oldest are forgotten") {
    UnansweredIds ids;
    for (std::size_t i = 0; i < UnansweredIds::most_settled + 2; ++i) {
        ids.settled("s" + std::to_string(i));
    }
    ids.lost();
    CHECK_FALSE(ids.comes_again("s0"));
    CHECK_FALSE(ids.comes_again("s1"));
    CHECK(ids.comes_again("s2"));
    CHECK(ids.comes_again("s" + std::to_string(UnansweredIds::most_settled)));
    ids.held("first");
    for (std::size_t i = 0; i < UnansweredIds::most_lost; ++i) {
        ids.held("h" + std::to_string(i));
    }
    CHECK_FALSE(ids.comes_again("first"));
    CHECK(ids.comes_again("h" + std::to_string(UnansweredIds::most_lost - 1)));
}
