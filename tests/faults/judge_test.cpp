// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "faults/judge.hpp"

using namespace sessionq;
using namespace sessionq::faults;
using Kind = Event::Kind;

namespace {

/// Builds events of session 0, one tick apart.
struct Story {
    Story& add(Kind kind, std::uint32_t holder, std::int64_t number = 0, bool is_late = false) {
        events.push_back({.kind = kind,
                          .is_late = is_late,
                          .holder = holder,
                          .number = number,
                          .sequence = number * 10,
                          .at = TimePoint{Duration{static_cast<Duration::rep>(events.size())}}});
        return *this;
    }
    Story& handle(std::uint32_t holder, std::int64_t number) {
        return add(Kind::begin, holder, number).add(Kind::done, holder, number);
    }
    [[nodiscard]] Judgement judged(std::int64_t confirmed, std::size_t window = 1) const {
        return judge(events, {{0, {.confirmed = confirmed}}}, {.window = window});
    }

    std::vector<Event> events{};
};

} // namespace

TEST_CASE("judge: accepts a clean run") {
    const Judgement said =
        Story{}.add(Kind::open, 1).handle(1, 1).handle(1, 2).add(Kind::close, 1).judged(2);
    CHECK(said.is_clean());
    CHECK(said.handled == 2);
    CHECK(said.leases == 1);
    CHECK(said.locks_lost == 0);
    CHECK(said.words.empty());
}

TEST_CASE("judge: a confirmed message that was never handled is lost") {
    const Judgement said = Story{}.add(Kind::open, 1).handle(1, 1).add(Kind::begin, 1, 2).judged(2);
    CHECK(said.lost == 1);
    CHECK(said.words.at(0).find("message 2") != std::string::npos);
}

TEST_CASE("judge: a message that overtakes is out of order, within a lock and across locks") {
    // once because 2 came first, once because 1 followed
    CHECK(Story{}.add(Kind::open, 1).handle(1, 2).handle(1, 1).judged(2).out_of_order == 2);
    CHECK(Story{}.add(Kind::open, 1).handle(1, 1).handle(1, 3).judged(1).out_of_order == 1);
    CHECK(Story{}
              .add(Kind::open, 1)
              .handle(1, 1)
              .add(Kind::close, 1)
              .add(Kind::open, 2)
              .handle(2, 3)
              .handle(2, 4)
              .judged(1)
              .out_of_order == 1);
}

TEST_CASE("judge: after a failure the same message comes next") {
    const auto failing = [] {
        return Story{}.add(Kind::open, 1).add(Kind::begin, 1, 1).add(Kind::failed, 1, 1);
    };
    const Judgement said = failing().handle(1, 1).handle(1, 2).add(Kind::close, 1).judged(2);
    CHECK(said.is_clean());
    CHECK(said.retries == 1);
    CHECK(failing().handle(1, 2).judged(0).out_of_order == 1);
    CHECK(failing().add(Kind::close, 1).add(Kind::open, 2).handle(2, 1).judged(1).is_clean());
}

TEST_CASE("judge: a repeat needs a lost lock and must be one of its last messages") {
    const auto twice = [](bool lost, int after, std::size_t window) {
        Story story;
        story.add(Kind::open, 1).handle(1, 1);
        for (int i = 0; i < after; ++i) {
            story.handle(1, 2 + i);
        }
        story.add(Kind::close, 1, 0, lost).add(Kind::open, 2);
        for (int i = 0; i <= after; ++i) {
            story.handle(2, 1 + i);
        }
        return story.add(Kind::close, 2).judged(1 + after, window);
    };
    CHECK(twice(false, 0, 1).unexplained == 1);
    CHECK(twice(true, 0, 1).is_clean());
    CHECK(twice(true, 0, 1).repeats == 1);
    CHECK(twice(true, 1, 1).unexplained == 1);
    CHECK(twice(true, 1, 2).is_clean());
}

TEST_CASE(
    "judge: a holder that does not know of its loss may only repeat messages it already had") {
    const auto stale = [](bool lost) {
        return Story{}
            .add(Kind::open, 1)
            .add(Kind::open, 2)
            .handle(2, 1)
            .handle(2, 2)
            .add(Kind::close, 2)
            .handle(1, 1)
            .handle(1, 2)
            .add(Kind::close, 1, 0, lost);
    };
    CHECK(stale(true).judged(2, 2).is_clean());
    CHECK(stale(true).judged(2, 2).repeats == 2);
    CHECK(Story{}
              .add(Kind::open, 1)
              .add(Kind::open, 2)
              .handle(2, 1)
              .handle(1, 1)
              .handle(2, 2)
              .add(Kind::close, 1, 0, true)
              .add(Kind::close, 2)
              .judged(2)
              .is_clean());
    CHECK(stale(true).judged(2, 1).unexplained == 1);
    CHECK(stale(false).judged(2, 2).unexplained == 2);
}

TEST_CASE("judge: a lock also counts as lost if it was never closed, a settlement failed, or its "
          "holder was left") {
    CHECK(Story{}
              .add(Kind::open, 1)
              .handle(1, 1)
              .add(Kind::open, 2)
              .handle(2, 1)
              .add(Kind::close, 2)
              .judged(1)
              .is_clean());
    CHECK(Story{}
              .add(Kind::open, 1)
              .handle(1, 1)
              .add(Kind::trouble, 1)
              .add(Kind::close, 1)
              .add(Kind::open, 2)
              .handle(2, 1)
              .judged(1)
              .is_clean());
    CHECK(Story{}
              .add(Kind::open, 1)
              .handle(1, 1)
              .add(Kind::close, 1)
              .add(Kind::trouble, 1)
              .add(Kind::open, 2)
              .handle(2, 1)
              .judged(1)
              .is_clean());
    CHECK(Story{}
              .add(Kind::open, 1)
              .handle(1, 1)
              .add(Kind::close, 1)
              .add(Kind::left, 1)
              .add(Kind::open, 2)
              .handle(2, 1)
              .judged(1)
              .is_clean());
}

TEST_CASE("judge: detects two handlers at once, in one holder and in two") {
    CHECK(Story{}
              .add(Kind::open, 1)
              .add(Kind::begin, 1, 1)
              .add(Kind::begin, 1, 2)
              .judged(0)
              .overlaps == 1);
    CHECK(Story{}
              .add(Kind::open, 1)
              .add(Kind::open, 2)
              .handle(2, 1)
              .handle(1, 2)
              .add(Kind::close, 1)
              .add(Kind::close, 2)
              .judged(1)
              .overlaps == 1);
    CHECK(Story{}
              .add(Kind::open, 1)
              .add(Kind::open, 2)
              .handle(2, 1)
              .add(Kind::close, 1)
              .add(Kind::close, 2)
              .judged(1)
              .is_clean());
    CHECK(Story{}
              .add(Kind::open, 1)
              .add(Kind::open, 2)
              .handle(2, 1)
              .add(Kind::close, 1, 0, true)
              .add(Kind::close, 2)
              .judged(1)
              .is_clean());
    CHECK(Story{}.handle(1, 1).judged(0).overlaps == 1); // no session was open
}

TEST_CASE("judge: a repeated send explains a copy") {
    Story story;
    story.add(Kind::open, 1).handle(1, 1);
    story.events.push_back({.kind = Kind::begin,
                            .holder = 1,
                            .number = 1,
                            .sequence = 11,
                            .at = TimePoint{Duration{100}}});
    story.events.push_back({.kind = Kind::done,
                            .holder = 1,
                            .number = 1,
                            .sequence = 11,
                            .at = TimePoint{Duration{101}}});
    CHECK(story.judged(1).unexplained == 1);
    const Judgement said = judge(story.events, {{0, {.confirmed = 1, .asked_twice = {1}}}}, {});
    CHECK(said.is_clean());
    CHECK(said.copies == 1);
}

TEST_CASE("event: a written event can be read, except an incomplete line") {
    const Event event{.kind = Kind::close,
                      .is_late = true,
                      .holder = 7,
                      .session = 3,
                      .number = 12,
                      .sequence = 99,
                      .at = TimePoint{Duration{123456789}}};
    const std::string line = to_line(event);
    CHECK(read_events(line + line + line.substr(0, 9)) == std::vector<Event>{event, event});
    CHECK(read_events("1 0").empty());
    CHECK_THROWS(read_events("hello\n"));
}
