// SPDX-License-Identifier: MIT
#include "unit/groups/support/groups_world.hpp"

using namespace sessionq;
using namespace sessionq::test::groups_world;

TEST_CASE("arrival: a message that cannot be decoded is rejected, and its credit serves the next") {
    bool is_connected = false; // a group cannot be named before the dialect is known
    World world;
    world.endpoint->connect([&](const auto& done) { is_connected = done.ok(); });
    REQUIRE(world.until([&] { return is_connected; }));
    for (int i = 0; i < 12; ++i) { // more than the owner's credit
        world.broker.give_encoded("no sections");
    }
    world.broker.give("g", "good", false);
    SUBCASE("on a link without sessions") {
        world.accept({.entity = "queue", .scope = ports::Scope::entity});
    }
    SUBCASE("on a link of one group") {
        world.accept({.entity = "queue", .session_id = "g", .wait = 24h});
    }
    SUBCASE("on a shared link") { world.accept(); }
    CHECK(world.session_with(1).text() == "good");
    CHECK(world.until([&] { return world.broker.rejected == 12; }));
}
