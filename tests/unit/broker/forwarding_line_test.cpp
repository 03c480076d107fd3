// SPDX-License-Identifier: MIT
#include "broker/forwarding_line.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace sessionq;
using namespace sessionq::broker;
using namespace std::chrono_literals;

namespace {

std::vector<Transit> transits(std::initializer_list<std::int64_t> sequences) {
    std::vector<Transit> made;
    for (const std::int64_t sequence : sequences) {
        made.push_back({.sequence = sequence});
    }
    return made;
}

std::string numbers(const std::vector<Transit>& all) {
    std::string text;
    for (const Transit& transit : all) {
        text += std::to_string(transit.sequence) + " ";
    }
    return text;
}

struct Line : ForwardingLine {
    void put(std::initializer_list<std::int64_t> sequences) {
        auto leaving = transits(sequences);
        add(leaving);
        CHECK(leaving.empty());
    }
};

void tell(const std::vector<ForwardingLine::Done>& all) {
    for (const auto& done : all) {
        done();
    }
}

} // namespace

TEST_CASE("forwarding line: one at a time forwards, until nothing waits") {
    Line line;
    CHECK(line.is_idle());
    CHECK_FALSE(line.begin());
    line.put({1, 2});
    CHECK(line.begin());
    CHECK_FALSE(line.begin());
    CHECK_FALSE(line.is_idle());
    CHECK(numbers(line.take()) == "1 2 ");
    line.put({3});
    CHECK_FALSE(line.begin());
    CHECK(numbers(line.take()) == "3 ");
    CHECK(line.take().empty());
    CHECK(line.is_idle());
}

TEST_CASE("forwarding line: what was put down is due, and only whoever resumes goes on") {
    Line line;
    line.put({1});
    CHECK(line.begin());
    CHECK(line.due() == TimePoint::max());
    CHECK_FALSE(line.resume());
    line.put_down(TimePoint{5s});
    CHECK(line.due() == TimePoint{5s});
    line.put({2});
    CHECK_FALSE(line.begin()); // it must not overtake
    CHECK(line.resume());
    CHECK_FALSE(line.resume());
    CHECK(line.due() == TimePoint::max());
    CHECK(numbers(line.take()) == "1 2 ");
}

TEST_CASE("forwarding line: who waits is told once what was there before has ended") {
    Line line;
    line.put({1, 2});
    CHECK(line.begin());
    CHECK(line.take().size() == 2);
    std::string told;
    CHECK(line.await([&] { told += "a"; }));
    line.put({3});
    CHECK(line.await([&] { told += "b"; }));
    tell(line.end(1));
    CHECK(told.empty());
    tell(line.end(1));
    CHECK(told == "a");
    tell(line.end(1));
    CHECK(told == "ab");
    CHECK_FALSE(line.await([] {})); // although nobody has seen yet that nothing waits
    CHECK_FALSE(line.is_idle());
}

TEST_CASE("forwarding line: who waits is told when it is given up") {
    Line line;
    line.put({1});
    CHECK(line.begin());
    int told = 0;
    CHECK(line.await([&] { ++told; }));
    tell(line.give_up());
    tell(line.give_up());
    CHECK(told == 1);
}

TEST_CASE("forwarding line: held messages wait again when they are released") {
    Line line;
    line.put({1, 2});
    CHECK(line.begin());
    for (Transit& transit : line.take()) {
        transit.is_held = true;
        line.hold(std::move(transit));
    }
    CHECK(line.holds_any());
    int told = 0;
    CHECK(line.await([&] { ++told; }));
    CHECK(line.take().empty());
    line.release_held();
    CHECK_FALSE(line.holds_any());
    CHECK(line.begin());
    const auto again = line.take();
    CHECK(numbers(again) == "1 2 ");
    CHECK_FALSE(again.front().is_held);
    tell(line.end(2));
    CHECK(told == 1);
}
