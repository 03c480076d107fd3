// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "faults/director.hpp"

using namespace sessionq;
using namespace sessionq::faults;
using namespace std::chrono_literals;

namespace {

constexpr TimePoint start{1000s};

Director made(const char* script, std::uint64_t seed = 1) {
    Director director{parse_script(script), seed};
    director.start(start);
    return director;
}

} // namespace

TEST_CASE("Director: a fault hits the given number of connections, once each, when it is due") {
    Director director = made("1s reset conns=2\n2s stall conns=all for=300ms");
    CHECK(director.due(start, {1, 2, 3}).empty());
    CHECK(director.next_due() == start + 1s);
    const auto first = director.due(start + 1s, {1, 2, 3});
    REQUIRE(first.size() == 2);
    CHECK(first[0].connection != first[1].connection);
    const auto second = director.due(start + 2s, {1, 2, 3});
    CHECK(second.size() == 3);
    CHECK(second[0].until == start + 2300ms);
    CHECK(director.is_over());
    CHECK(director.counts().at(FaultKind::reset) == 1);
    CHECK(director.counts().at(FaultKind::stall) == 1);
}

TEST_CASE("Director: a fault without a victim is not counted") {
    Director director = made("1s reset");
    CHECK(director.due(start + 2s, {}).empty());
    CHECK(director.counts().empty());
}

TEST_CASE("Director: the same seed chooses the same victims") {
    const auto victims = [](std::uint64_t seed) {
        Director director = made("0s reset conns=3", seed);
        std::vector<std::uint64_t> hit;
        for (const AppliedFault& applied : director.due(start, {1, 2, 3, 4, 5, 6, 7, 8, 9})) {
            hit.push_back(applied.connection);
        }
        return hit;
    };
    CHECK(victims(5) == victims(5));
    CHECK_FALSE(victims(5) == victims(6));
}

TEST_CASE("Director: the door refuses, rejects or swallows for its time") {
    Director director = made("1s refuse for=1s\n3s reject for=1s\n5s swallow for=1s");
    CHECK(director.door(start) == Director::Door::open);
    static_cast<void>(director.due(start + 1s, {}));
    CHECK(director.door(start + 1999ms) == Director::Door::shut);
    CHECK(director.door(start + 2s) == Director::Door::open);
    static_cast<void>(director.due(start + 3s, {}));
    CHECK(director.door(start + 3s) == Director::Door::rejects);
    static_cast<void>(director.due(start + 5s, {}));
    CHECK(director.door(start + 5s) == Director::Door::swallows);
    director.stop();
    CHECK(director.door(start + 5s) == Director::Door::open);
}

TEST_CASE(
    "Director: a clog stalls one connection after another and releases them in another order") {
    Director director = made("1s clog conns=6 for=2s", 3);
    std::vector<AppliedFault> all;
    std::vector<TimePoint> began;
    for (TimePoint now = start; !director.is_over(); now += 1ms) {
        for (const AppliedFault& applied : director.due(now, {1, 2, 3, 4, 5, 6, 7, 8})) {
            all.push_back(applied);
            began.push_back(now);
        }
    }
    REQUIRE(all.size() == 6);
    CHECK(began.front() < began.back());
    std::set<std::uint64_t> who;
    for (const AppliedFault& applied : all) {
        who.insert(applied.connection);
        CHECK(applied.fault.kind == FaultKind::stall);
        CHECK(applied.until >= start + 2s);
        CHECK(applied.until <= start + 3s);
    }
    CHECK(who.size() == 6);
    CHECK_FALSE(
        std::is_sorted(all.begin(), all.end(), [](const AppliedFault& a, const AppliedFault& b) {
            return a.until < b.until;
        }));
    CHECK(director.counts().at(FaultKind::clog) == 1);
}
