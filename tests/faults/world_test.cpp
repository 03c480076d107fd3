// SPDX-License-Identifier: MIT
#include "faults/world.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace sessionq::faults;
using namespace std::chrono_literals;

namespace {

const WallTime noon{std::chrono::hours{24 * 365 * 50}};

/// Returns everything in the model as observed.
Observation look_at(const World& world, WallTime at = noon) {
    Observation seen{.began = at, .ended = at, .states = world.states};
    for (const auto& [key, copy] : world.copies) {
        seen.messages.push_back({.entity = key.first,
                                 .text = key.second,
                                 .place = copy.place,
                                 .count = copy.count,
                                 .reason = copy.reason});
    }
    return seen;
}

bool has(const World& world, const std::string& entity, const std::string& text) {
    return world.copies.contains({entity, text});
}

} // namespace

TEST_CASE("world: a sent message is where it is forwarded to") {
    World world;
    world.send(entity::work, "1", true);
    world.send(entity::inbox, "2", false);
    world.send(entity::news, "3", true);
    CHECK(world.copies.size() == 6);
    CHECK(has(world, entity::archive, "2"));
    CHECK_FALSE(has(world, entity::red, "2"));
    CHECK(has(world, entity::red, "3"));
    CHECK_FALSE(find_difference(world, look_at(world)));
}

TEST_CASE("world: a message abandoned too often becomes a dead letter, and some are forwarded") {
    World world;
    for (const char* at : {entity::work, entity::archive}) {
        world.send(at, "1", false);
        for (std::uint32_t i = 0; i < most_deliveries; ++i) {
            world.abandon({at, "1"});
        }
    }
    CHECK(world.copies.size() == 2);
    CHECK(world.copies.at({dead_letters_of(entity::work), "1"}).reason ==
          "MaxDeliveryCountExceeded");
    CHECK(world.copies.at({dead_letters_of(entity::work), "1"}).count == most_deliveries);
    CHECK(world.copies.at({entity::graveyard, "1"}).count == 0);
    CHECK(world.copies.at({entity::graveyard, "1"}).reason == "MaxDeliveryCountExceeded");
}

TEST_CASE("world: a scheduled message is in one place until it is due; an early one is an error") {
    World world;
    world.schedule(entity::news, "1", true, noon + 1s);
    CHECK(world.copies.size() == 1);
    Observation before = look_at(world);
    CHECK_FALSE(find_difference(world, before));
    CHECK_FALSE(find_impossible(world, before));
    World later = world;
    later.pass(noon + 1s);
    CHECK(later.copies.size() == 3);
    CHECK_FALSE(find_difference(world, look_at(later, noon + 1s)));
    CHECK_FALSE(find_impossible(world, look_at(later, noon + 1s)));
    CHECK(find_difference(world, look_at(world, noon + 1s)));
    CHECK(find_impossible(world, look_at(later, noon))->find("before its time") !=
          std::string::npos);
}

TEST_CASE("world: finds and names every difference") {
    World world;
    world.send(entity::work, "1", false);
    world.send(entity::work, "2", false);
    world.defer({entity::work, "2"});
    world.set_state(entity::work, "s");
    const auto difference = [&](auto change) {
        Observation seen = look_at(world);
        change(seen);
        return find_difference(world, seen).value_or("none");
    };
    CHECK(difference([](Observation&) {}) == "none");
    CHECK(difference([](Observation& o) { o.messages.pop_back(); }).find("'2' in work is lost") ==
          0);
    CHECK(difference([](Observation& o) {
              o.messages.push_back({.entity = entity::all, .text = "1"});
          }).find("must not") != std::string::npos);
    CHECK(difference([](Observation& o) {
              o.messages[1].place = MessageState::active;
          }).find("must be deferred") != std::string::npos);
    CHECK(difference([](Observation& o) { o.messages[0].count = 1; }).find("delivered 1") !=
          std::string::npos);
    CHECK(difference([](Observation& o) { o.messages[0].reason = "why"; }).find("why") !=
          std::string::npos);
    CHECK(difference([](Observation& o) { o.states.clear(); }) ==
          "the state in work is none and must be 's'");
    CHECK(difference([](Observation& o) { o.states[entity::red] = "t"; }) ==
          "the state in news/Subscriptions/red is 't' and must be none");
    Observation gone = look_at(world);
    gone.messages.pop_back();
    CHECK_FALSE(find_difference(world, gone, {{entity::work, "2"}}));
    Observation twice = look_at(world);
    twice.messages.push_back(twice.messages.front());
    CHECK(find_impossible(world, twice)->find("twice") != std::string::npos);

    // seen while it was scheduled, and again when it was due
    const auto again = [&](MessageState first, MessageState second, std::int64_t sequence) {
        Observation seen = look_at(world);
        seen.messages.push_back(
            {.entity = entity::work, .text = "9", .place = first, .sequence = 5});
        seen.messages.push_back(
            {.entity = entity::work, .text = "9", .place = second, .sequence = sequence});
        return find_impossible(world, seen).has_value();
    };
    CHECK_FALSE(again(MessageState::scheduled, MessageState::active, 6));
    CHECK(again(MessageState::scheduled, MessageState::active, 5));
    CHECK(again(MessageState::scheduled, MessageState::scheduled, 6));
    CHECK(again(MessageState::active, MessageState::active, 6));
}

TEST_CASE("world: a half-forwarded message matches neither the old nor the new state") {
    World before;
    World after;
    after.send(entity::news, "1", true);
    Observation half = look_at(after);
    half.messages.pop_back();
    CHECK(find_difference(before, half));
    CHECK(find_difference(after, half));
}
