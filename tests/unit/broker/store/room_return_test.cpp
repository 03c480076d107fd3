// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "broker/store/room_return.hpp"

using namespace sessionq;
using namespace sessionq::broker;

namespace {

constexpr std::int64_t page = 4096;
constexpr std::int64_t kept = (std::int64_t{8} << 20U) / page;

constexpr FilePages file_of(std::int64_t all, std::int64_t unused) {
    return {.all = all, .unused = unused, .bytes = page};
}

} // namespace

TEST_CASE("pages_to_return: what is more than 8 MiB and more than a quarter of the file") {
    CHECK(pages_to_return({}) == 0);
    CHECK(pages_to_return(file_of(100, 100)) == 0);
    CHECK(pages_to_return(file_of(kept, kept)) == 0);
    CHECK(pages_to_return(file_of(kept + 5, kept + 3)) == 3);
    CHECK(pages_to_return(file_of(1'000'000, 250'000)) == 0);
    CHECK(pages_to_return(file_of(1'000'000, 100'000)) == 0);
    const std::int64_t pages = pages_to_return(file_of(1'000'000, 400'000));
    CHECK(pages == 200'000); // 200,000 of 800,000 pages are left
    CHECK(pages_to_return(file_of(1'000'000 - pages, 400'000 - pages)) == 0);
    CHECK(pages_to_return(file_of(1'000'000, 1'000'000)) == 1'000'000 - kept);
}

TEST_CASE("pages_to_return: ends, one page at a time too") {
    FilePages file = file_of(20'001, 12'345);
    int steps = 0;
    while (pages_to_return(file) > 0) {
        --file.all;
        --file.unused;
        REQUIRE(++steps < 20'000);
    }
    CHECK(file.unused >= kept);
    CHECK(4 * file.unused <= file.all);
}

TEST_CASE("RoomReturn: steps are bounded and have pauses, and end when enough is returned") {
    RoomReturn room;
    TimePoint now{std::chrono::hours{1}};
    CHECK(room.is_due(now)); // a look after the start
    CHECK(room.pages_of_step(file_of(1000, 100), now) == 0);
    CHECK_FALSE(room.is_open());
    room.on_commit(now);
    CHECK_FALSE(room.is_due(now)); // looks have pauses too
    now += RoomReturn::shortest_pause;
    CHECK(room.is_due(now));
    std::int64_t unused = 54'000;
    int steps = 0;
    while (room.is_open()) {
        REQUIRE(++steps < 1000);
        CHECK(room.is_due(now));
        const std::int64_t pages = room.pages_of_step(file_of(unused + 50, unused), now);
        CHECK(pages <= RoomReturn::most_pages);
        if (pages > 0) {
            unused -= pages;
            room.on_step(pages, std::chrono::milliseconds{10}, now);
            CHECK_FALSE(room.is_due(now));
            now += RoomReturn::shortest_pause;
        }
    }
    CHECK(unused == kept);
    CHECK(steps > 54'000 / RoomReturn::most_pages);
}

TEST_CASE("RoomReturn: a step waits for a moment without commits, but not for ever") {
    RoomReturn room;
    TimePoint now{std::chrono::hours{1}};
    CHECK(room.pages_of_step(file_of(90'000, 80'000), now) > 0);
    room.on_step(128, std::chrono::milliseconds{10}, now);
    const TimePoint rested = now + RoomReturn::shortest_pause;
    while (now < rested + RoomReturn::longest_wait) {
        CHECK_FALSE(room.is_due(now));
        room.on_commit(now);
        now += std::chrono::milliseconds{50};
    }
    CHECK(room.is_due(now));
    room.on_step(128, std::chrono::milliseconds{10}, now);
    room.on_commit(now);
    CHECK_FALSE(room.is_due(now + RoomReturn::shortest_pause - std::chrono::milliseconds{1}));
    CHECK(room.is_due(now + RoomReturn::shortest_pause));
}

TEST_CASE("RoomReturn: what is returned is written into the file now and then, and at the end") {
    RoomReturn room;
    const TimePoint now{std::chrono::hours{1}};
    CHECK_FALSE(room.takes_checkpoint(0)); // nothing was returned
    room.on_step(RoomReturn::pages_per_checkpoint - 1, Duration::zero(), now);
    CHECK_FALSE(room.takes_checkpoint(100));
    room.on_step(1, Duration::zero(), now);
    CHECK(room.takes_checkpoint(100));
    CHECK_FALSE(room.takes_checkpoint(100));
    room.on_step(1, Duration::zero(), now);
    CHECK(room.pages_of_step(file_of(100, 10), now) == 0);
    CHECK_FALSE(room.is_open());
    CHECK(room.takes_checkpoint(0));
    CHECK(room.is_open()); // one more look
    CHECK(room.pages_of_step(file_of(100, 10), now) == 0);
    CHECK_FALSE(room.takes_checkpoint(0));
    CHECK_FALSE(room.is_open());
}

TEST_CASE("RoomReturn: long steps become smaller and have longer pauses, short ones larger") {
    RoomReturn room;
    TimePoint now{std::chrono::hours{1}};
    const FilePages file = file_of(1'000'000, 900'000);
    const auto step = [&](Duration took) {
        const std::int64_t pages = room.pages_of_step(file, now);
        now += took;
        room.on_step(pages, took, now);
        return room.pages_of_step(file, now);
    };
    const std::int64_t first = room.pages_of_step(file, now);
    CHECK(step(std::chrono::milliseconds{40}) == first / 2);
    for (int i = 0; i < 10; ++i) {
        step(std::chrono::milliseconds{40});
    }
    CHECK(room.pages_of_step(file, now) == RoomReturn::fewest_pages);
    CHECK(step(std::chrono::milliseconds{1}) == 2 * RoomReturn::fewest_pages);
    for (int i = 0; i < 10; ++i) {
        step(std::chrono::milliseconds{1});
    }
    CHECK(room.pages_of_step(file, now) == RoomReturn::most_pages);
    room.on_step(1, std::chrono::milliseconds{200}, now);
    CHECK_FALSE(room.is_due(now + std::chrono::milliseconds{1799}));
    CHECK(room.is_due(now + std::chrono::milliseconds{1800}));
}

TEST_CASE("RoomReturn: a step that returns nothing is the last one until the next commit") {
    RoomReturn room;
    const TimePoint now{std::chrono::hours{1}};
    CHECK(room.pages_of_step(file_of(90'000, 80'000), now) > 0);
    room.on_step(0, Duration::zero(), now);
    CHECK_FALSE(room.is_open());
    room.on_commit(now);
    CHECK(room.is_due(now + RoomReturn::shortest_pause));
}
