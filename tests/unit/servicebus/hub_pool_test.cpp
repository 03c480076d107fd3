#include "servicebus/hub_pool.hpp"

#include <doctest/doctest.h>

#include "client/client_core.hpp"
#include "client/receive_thread.hpp"

using namespace sessionq;

TEST_CASE(
    "HubPool: sessions go where there is room, the earliest first; what has run empty is closed") {
    client::ReceiveThread thread;
    client::run_on(thread, [&] { // nothing connects: nobody asks for anything
        servicebus::HubPool pool{thread, thread.io_context(), {.target = {.host = "localhost"}}};
        const auto first = pool.for_session();
        CHECK(first == pool.first());
        std::size_t taken = 0;
        while (first->has_room()) {
            first->enter();
            ++taken;
        }
        CHECK(taken >= 100);
        const auto second = pool.for_session();
        CHECK(second != first);
        second->enter();
        CHECK(pool.for_session() == second);
        first->leave();
        CHECK(pool.for_session() == first);
        CHECK(pool.size() == 2);
        second->leave();
        CHECK(pool.for_session() == first);
        CHECK(pool.size() == 1);
        std::optional<Errc> told;
        second->ready("", [&](core::Result<amqp::Engine*> engine) {
            told = engine.ok() ? std::nullopt : std::optional{engine.failure().code};
        });
        CHECK(told == Errc::cancelled);
    });
}

TEST_CASE("Hub: a peer that takes no more sessions has no room until some have left") {
    client::ReceiveThread thread;
    client::run_on(thread, [&] {
        servicebus::HubPool pool{thread, thread.io_context(), {.target = {.host = "localhost"}}};
        for (int i = 0; i < 5; ++i) {
            pool.first()->enter();
        }
        pool.first()->note_full(); // told to the fifth
        CHECK_FALSE(pool.first()->has_room());
        pool.first()->leave();
        CHECK_FALSE(pool.first()->has_room());
        pool.first()->leave();
        CHECK(pool.first()->has_room());
    });
}
