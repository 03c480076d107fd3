// SPDX-License-Identifier: MIT
#include "servicebus/connection_pool.hpp"

#include <doctest/doctest.h>

#include <asio/io_context.hpp>

#include "support/manual_loop.hpp"

using namespace sessionq;

TEST_CASE("connection pool: sessions go to the earliest connection with room; an unused one is "
          "closed by a later turn") {
    test::ManualLoop loop; // nothing connects: nobody asks for anything
    asio::io_context io;
    detail::servicebus::ConnectionPool pool{loop, io, {.target = {.host = "localhost"}}};
    auto& first = pool.for_session();
    CHECK(&first == &pool.first());
    std::size_t taken = 0;
    while (first.pool().has_room()) {
        first.pool().enter();
        ++taken;
    }
    CHECK(taken >= 100);
    auto& second = pool.for_session();
    CHECK(&second != &first);
    second.pool().enter();
    CHECK(&pool.for_session() == &second);
    first.pool().leave();
    CHECK(&pool.for_session() == &first);
    CHECK(pool.size() == 2);
    second.pool().leave();
    const auto handle = second.handle();
    CHECK(&pool.for_session() == &first);
    CHECK(pool.size() == 1);
    CHECK(handle.get() != nullptr); // it may be telling its links
    loop.run_until_idle();
    CHECK(handle.get() == nullptr);
}
