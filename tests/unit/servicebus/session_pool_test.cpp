// SPDX-License-Identifier: MIT
#include "servicebus/session_pool.hpp"

#include <doctest/doctest.h>

using sessionq::detail::servicebus::SessionPool;

TEST_CASE("session pool: links share a session up to its limit, and the last one ends it") {
    SessionPool pool;
    CHECK_FALSE(pool.choose());
    const auto first = pool.add();
    for (std::size_t i = 0; i < SessionPool::links_per_session; ++i) {
        CHECK(pool.choose() == first);
        pool.join(first);
    }
    CHECK_FALSE(pool.choose());
    const auto second = pool.add();
    CHECK(second != first);
    pool.join(second);
    CHECK_FALSE(pool.part(first));
    CHECK(pool.choose() == first);
    CHECK(pool.part(second));
    CHECK_FALSE(pool.part(second)); // it is gone
    for (std::size_t i = 2; i < SessionPool::links_per_session; ++i) {
        CHECK_FALSE(pool.part(first));
    }
    CHECK(pool.part(first));
    CHECK_FALSE(pool.choose());
}

TEST_CASE("session pool: a session that is shut takes no more links") {
    SessionPool pool;
    const auto id = pool.add();
    pool.join(id);
    pool.shut(id);
    CHECK_FALSE(pool.choose());
    CHECK(pool.part(id));
}

TEST_CASE("session pool: the peer's channels bound the links, and some channels are kept free") {
    SessionPool pool;
    std::size_t room = 0;
    SUBCASE("one channel") {
        pool.opened(0);
        room = SessionPool::links_per_session;
    }
    SUBCASE("eight channels") {
        pool.opened(7);
        room = 4 * SessionPool::links_per_session;
    }
    SUBCASE("forty channels") {
        pool.opened(39);
        room = 24 * SessionPool::links_per_session;
    }
    SUBCASE("more than it uses") {
        pool.opened(4999);
        room = SessionPool::max_links;
    }
    for (std::size_t i = 0; i < room; ++i) {
        REQUIRE(pool.has_room());
        pool.enter();
    }
    CHECK_FALSE(pool.has_room());
    CHECK_FALSE(pool.is_unused());
}

TEST_CASE("session pool: a peer that takes no more links has no room until some have left") {
    SessionPool pool;
    for (int i = 0; i < 5; ++i) {
        pool.enter();
    }
    pool.refused(); // the fifth
    CHECK_FALSE(pool.has_room());
    pool.leave();
    CHECK_FALSE(pool.has_room());
    pool.leave();
    CHECK(pool.has_room());
    for (int i = 0; i < 3; ++i) {
        pool.leave();
    }
    CHECK(pool.is_unused());
    pool.enter();
    pool.refused(); // the only one: it may try again
    CHECK_FALSE(pool.has_room());
    pool.leave();
    CHECK(pool.has_room());
}
