// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <string>

#include "replay/tally.hpp"

using namespace replay;

namespace {

void send(Tally& tally, std::string_view session, int count) {
    for (int i = 0; i < count; ++i) {
        (void)tally.next_ordinal(session);
    }
}

/// Whether it finished for the first time.
bool handle(Tally& tally, std::string_view session, std::uint64_t ordinal,
            std::string_view outcome = {}) {
    tally.started(session, ordinal);
    return tally.finished(session, ordinal, outcome);
}

} // namespace

TEST_CASE("ordinal set: fills from below and knows what is missing") {
    OrdinalSet set;
    CHECK(set.insert(2));
    CHECK(set.insert(4));
    CHECK_FALSE(set.insert(4));
    CHECK(set.count_below(2) == 0);
    CHECK(set.count_below(4) == 1);
    CHECK(set.count_below(9) == 2);
    CHECK(set.insert(1));
    CHECK_FALSE(set.insert(2));
    CHECK(set.count_below(3) == 2);
    CHECK(set.count_below(5) == 3);
    CHECK(set.size() == 3);
}

TEST_CASE("tally: all handled in order is faultless") {
    Tally tally{1};
    send(tally, "a", 2);
    send(tally, "b", 1);
    handle(tally, "a", 1);
    handle(tally, "b", 1);
    handle(tally, "a", 2);
    const auto figures = tally.figures();
    CHECK(figures.faultless());
    CHECK(figures.sent == 3);
    CHECK(figures.sessions == 2);
}

TEST_CASE("tally: one message lost and another twice do not cancel out") {
    Tally tally{1};
    send(tally, "a", 2);
    CHECK(handle(tally, "a", 1));
    CHECK_FALSE(handle(tally, "a", 1));
    const auto figures = tally.figures();
    CHECK(figures.lost == 1);
    CHECK(figures.duplicated == 1);
    CHECK(figures.out_of_order == 0);
    CHECK_FALSE(figures.faultless());
}

TEST_CASE("tally: a start before the end of the one before is out of order") {
    Tally tally{1};
    send(tally, "a", 2);
    tally.started("a", 1);
    tally.started("a", 2);
    CHECK(tally.figures().out_of_order == 1);
    CHECK(tally.figures().lost == 2);
}

TEST_CASE("tally: an overtaken message is out of order") {
    Tally tally{1};
    send(tally, "a", 3);
    handle(tally, "a", 1);
    handle(tally, "a", 3);
    handle(tally, "a", 2);
    CHECK(tally.figures().out_of_order == 1);
    CHECK(tally.figures().lost == 0);
}

TEST_CASE("tally: with two calls per session two may run, the third may not") {
    Tally tally{2};
    send(tally, "a", 3);
    tally.started("a", 2);
    tally.started("a", 1);
    CHECK(tally.figures().out_of_order == 0);
    tally.started("a", 3);
    CHECK(tally.figures().out_of_order == 1);
}

TEST_CASE("tally: what was never sent counts as duplicated") {
    Tally tally{1};
    send(tally, "a", 1);
    handle(tally, "a", 1);
    CHECK_FALSE(handle(tally, "a", 2));
    CHECK_FALSE(handle(tally, "b", 0));
    CHECK(tally.figures().duplicated == 2);
    CHECK(tally.figures().sessions == 1);
    CHECK(tally.figures().lost == 0);
}

TEST_CASE("tally: outcomes, those with most messages first") {
    Tally tally{1};
    send(tally, "a", 1);
    send(tally, "b", 2);
    handle(tally, "a", 1, "on");
    handle(tally, "b", 1, "on");
    handle(tally, "b", 2, "off");
    const auto outcomes = tally.outcomes();
    REQUIRE(outcomes.size() == 2);
    CHECK(outcomes[0].session_id == "b");
    CHECK(outcomes[0].messages == 2);
    CHECK(outcomes[0].last == "off");
    CHECK(outcomes[1].session_id == "a");
    CHECK(outcomes[1].last == "on");
}
