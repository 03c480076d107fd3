#include "processor/answer_bounds.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;
using processor::AnswerBounds;
using Overdue = AnswerBounds::Overdue;

namespace {

const processor::Tuning tuning{.drain_timeout = 5s, .close_timeout = 7s, .settle_timeout = 30s};
const TimePoint start{1h};

} // namespace

TEST_CASE("answer bounds: what is not outstanding is never due") {
    AnswerBounds bounds{tuning};
    bounds.drain_asked(start);
    bounds.settlements_began(start);
    bounds.close_asked(start);
    CHECK(bounds.due({}) == TimePoint::max());
    CHECK(bounds.overdue({}, start + 1h) == Overdue::nothing);
}

TEST_CASE("R15: answer bounds: each has its own time, and the earliest is looked at first") {
    AnswerBounds bounds{tuning};
    bounds.drain_asked(start);
    bounds.settlements_began(start);
    bounds.close_asked(start);
    CHECK(bounds.due({.drain = true, .settlements = true, .close = true}) == start + 5s);
    CHECK(bounds.due({.settlements = true, .close = true}) == start + 7s);
    CHECK(bounds.due({.settlements = true}) == start + 30s);
    CHECK(bounds.overdue({.drain = true}, start + 5s - 1ns) == Overdue::nothing);
    CHECK(bounds.overdue({.drain = true}, start + 5s) == Overdue::drain);
    CHECK(bounds.overdue({.close = true}, start + 7s) == Overdue::close);
    CHECK(bounds.overdue({.settlements = true}, start + 30s) == Overdue::settlements);
}

TEST_CASE(
    "answer bounds: of several that are overdue the one that ends the session soonest is told") {
    AnswerBounds bounds{tuning};
    bounds.drain_asked(start);
    bounds.settlements_began(start);
    bounds.close_asked(start);
    CHECK(bounds.overdue({.drain = true, .settlements = true, .close = true}, start + 1h) ==
          Overdue::close);
    CHECK(bounds.overdue({.drain = true, .settlements = true}, start + 1h) == Overdue::settlements);
}

TEST_CASE("answer bounds: an answer to one settlement gives the others their time again") {
    AnswerBounds bounds{tuning};
    bounds.settlements_began(start);
    bounds.settlements_moved(start + 29s);
    CHECK(bounds.due({.settlements = true}) == start + 30s); // no timer moves with every answer
    CHECK(bounds.overdue({.settlements = true}, start + 30s) == Overdue::nothing);
    CHECK(bounds.due({.settlements = true}) == start + 59s);
    CHECK(bounds.overdue({.settlements = true}, start + 59s) == Overdue::settlements);
}
