// SPDX-License-Identifier: MIT
#include "contract/port_case.hpp"

using namespace sessionq;
using namespace sessionq::test;

namespace {

constexpr EntitySpec short_lock{.lock_duration = 5s};

} // namespace

PORT_CASE("lock: its duration is the one in the answer to the accept") {
    PortCase t{port, short_lock};
    NEEDS(t, lock_renewal);
    const auto link = t.hold("a");
    REQUIRE(link->link().initial_lock().length);
    CHECK(*link->link().initial_lock().length >= 4900ms - t.fixture.lag());
    CHECK(*link->link().initial_lock().length <= 5s + t.fixture.lag());
}

PORT_CASE("lock: after a wait it has its full duration, from the answer on") {
    PortCase t{port, short_lock};
    NEEDS(t, lock_renewal);
    NEEDS(t, accept_next);
    auto waiting = t.begin_accept(std::nullopt, 10s);
    t.fixture.pass(2s);
    t.send("a", {"1"});
    CHECK(t.fixture.eventually([&] { return waiting.is_there(); }));
    const auto link = t.link_of(waiting);
    CHECK(*link->link().initial_lock().length >= 4900ms - t.fixture.lag());
    CHECK(*link->link().initial_lock().length <= 5s + t.fixture.lag());
}

PORT_CASE("lock: expiry is reported once, frees the session, and returns its messages counted") {
    PortCase t{port, short_lock};
    NEEDS(t, lock_renewal);
    t.send("a", {"1", "2"});
    const auto link = t.hold("a");
    t.receive(*link, 1);
    t.fixture.pass(4500ms - t.fixture.lag());
    CHECK_FALSE(link->lost);
    t.fixture.pass(600ms + t.fixture.lag());
    CHECK(t.fixture.eventually([&] { return link->lost.has_value(); }));
    CHECK(link->lost == Errc::lock_lost);
    const auto next = t.hold("a");
    t.receive(*next, 2);
    CHECK(next->text() == "1 2");
    CHECK(next->got[0]->message.delivery_count() == 1);
    CHECK(next->got[1]->message.delivery_count() == 0);
}

PORT_CASE("lock: a message tells that a holder of it was lost, until it is settled") {
    PortCase t{port, short_lock};
    NEEDS(t, lock_renewal);
    t.send("a", {"1", "2"});
    const auto lost = t.hold("a");
    t.receive(*lost, 1);
    CHECK_FALSE(lost->got[0]->holder_lost);
    t.fixture.pass(5100ms + t.fixture.lag());
    CHECK(t.fixture.eventually([&] { return lost->lost.has_value(); }));
    const auto closed = t.hold("a");
    t.receive(*closed, 2);
    CHECK(closed->got[0]->holder_lost);
    CHECK_FALSE(closed->got[1]->holder_lost); // the lost holder did not have it
    t.close(*closed);
    const auto last = t.hold("a");
    t.receive(*last, 2);
    CHECK(last->got[0]->holder_lost);
    CHECK_FALSE(last->got[1]->holder_lost); // nor is a holder that gives it back lost
}

PORT_CASE("lock: a renewal gives the full duration from then on") {
    PortCase t{port, short_lock};
    NEEDS(t, lock_renewal);
    const auto link = t.hold("a");
    for (int i = 0; i < 3; ++i) {
        t.fixture.pass(4s - t.fixture.lag());
        auto renewed = t.finish<ports::LockGrant>(
            [&](auto handler) { link->link().renew_lock({}, std::move(handler)); });
        REQUIRE_FALSE(renewed.failure());
        CHECK(*renewed.result().value().length >= 4900ms - t.fixture.lag());
        CHECK(*renewed.result().value().length <= 5s + t.fixture.lag());
    }
    CHECK_FALSE(link->lost);
    t.fixture.pass(5100ms);
    CHECK(t.fixture.eventually([&] { return link->lost.has_value(); }));
}

PORT_CASE("lock: after its loss settle, renew and state calls fail with lock_lost, once each") {
    PortCase t{port, short_lock};
    NEEDS(t, lock_renewal);
    t.send("a", {"1"});
    const auto link = t.hold("a");
    t.receive(*link, 1);
    t.fixture.pass(5100ms);
    CHECK(t.fixture.eventually([&] { return link->lost.has_value(); }));
    CHECK(t.settle(*link, *link->got[0], Outcome::complete) == Errc::lock_lost);
    const auto renewed = t.finish<ports::LockGrant>(
        [&](auto handler) { link->link().renew_lock({}, std::move(handler)); });
    CHECK(renewed.failure() == Errc::lock_lost);
    NEEDS(t, session_state);
    const auto state = t.finish<std::optional<std::string>>(
        [&](auto handler) { link->link().get_state({}, std::move(handler)); });
    CHECK(state.failure() == Errc::lock_lost);
    const auto written = t.finish<core::Done>(
        [&](auto handler) { link->link().set_state("s", {}, std::move(handler)); });
    CHECK(written.failure() == Errc::lock_lost);
    t.close(*link);
    const auto next = t.hold("a");
    t.receive(*next, 1);
}

PORT_CASE("lock: a settlement in progress is answered before the loss is reported") {
    PortCase t{port, short_lock};
    NEEDS(t, lock_renewal);
    t.send("a", {"1"});
    const auto link = t.hold("a");
    t.receive(*link, 1);
    t.fixture.pass(4900ms);
    link->settle(*link->got[0], Outcome::complete);
    t.fixture.pass(300ms);
    CHECK(t.fixture.eventually([&] { return link->lost.has_value(); }));
    CHECK(link->settled.size() == 1);
}

PORT_CASE("connection: what it had when it ended comes again, and is not counted as delivered") {
    PortCase t{port};
    NEEDS(t, lock_renewal); // brokers of message groups differ, see sdk/docs/brokers.md
    t.send("a", {"1", "2"});
    auto other = t.fixture.make_endpoint();
    auto accepted = t.begin_accept(t.wanted("a"), 20s, other.get());
    CHECK(t.fixture.eventually([&] { return accepted.is_there(); }));
    auto link = t.link_of(std::move(accepted));
    t.receive(*link, 1);
    link->destroy();
    other.reset();
    t.fixture.quiet(); // until the broker knows
    const auto next = t.link_of(t.accept(t.wanted("a"), 20s));
    t.receive(*next, 2);
    CHECK(next->text() == "1 2");
    CHECK(next->got[0]->message.delivery_count() == 0);
}

PORT_CASE("close: releases session and messages, uncounted and in order") {
    PortCase t{port};
    t.send("a", {"1", "2", "3"});
    const auto link = t.hold("a");
    t.receive(*link, 2);
    t.close(*link);
    const auto next = t.hold("a");
    t.receive(*next, 3);
    CHECK(next->text() == "1 2 3");
    CHECK(next->got[0]->message.delivery_count() == 0);
}

PORT_CASE("close: an accept right after it finds the session free") {
    PortCase t{port};
    NEEDS(t, accept_named);
    const auto link = t.hold("a");
    link->close();
    auto again = t.begin_accept("a");
    CHECK(t.fixture.eventually([&] { return again.is_there() && link->closed; }));
    CHECK_FALSE(again.failure());
}

PORT_CASE("close: settlements in progress take effect and are answered first") {
    PortCase t{port};
    t.send("a", {"1", "2"});
    const auto link = t.hold("a");
    t.receive(*link, 2);
    link->settle(*link->got[0], Outcome::complete);
    link->close();
    CHECK(t.fixture.eventually([&] { return link->closed; }));
    CHECK(link->settled.size() == 1);
    const auto next = t.hold("a");
    t.receive(*next, 1);
    CHECK(next->text() == "2");
}

PORT_CASE("close: no message arrives after it, even with credit left") {
    PortCase t{port};
    NEEDS(t, accept_named);
    const auto link = t.hold("a");
    link->credit(5);
    t.fixture.quiet();
    t.close(*link);
    t.send("a", {"1"});
    t.fixture.quiet();
    CHECK(link->got.empty());
}

PORT_CASE("destroy: a link that was not closed closes itself without events") {
    PortCase t{port};
    t.send("a", {"1", "2"});
    const auto link = t.hold("a");
    t.receive(*link, 1);
    bool is_told = false;
    link->settle(*link->got[0], Outcome::complete);
    link->link().get_state({}, [&](const auto&) { is_told = true; });
    link->drain();
    link->destroy();
    t.fixture.quiet();
    CHECK(link->settled.empty());
    CHECK(link->drained == 0);
    CHECK_FALSE(is_told);
    CHECK_FALSE(t.accept(t.wanted("a"), 5s).failure());
}

PORT_CASE("destroy: destroying a link during a delivery releases the other messages") {
    PortCase t{port};
    t.send("a", {"1", "2", "3"});
    struct Impatient final : ports::LinkEvents {
        ports::SessionLinkPtr link{};
        int got{0};
        [[nodiscard]] ports::DeliveryPtr new_delivery() override {
            return std::make_unique<ports::Delivery>();
        }
        void on_delivery(ports::DeliveryPtr) override {
            ++got;
            link.reset();
        }
        void on_settled(ports::Delivery&, const Failure*) override {}
        void on_drained() override {}
        void on_lost(const Failure&) override {}
    } impatient;
    impatient.link = std::move(t.accept(t.wanted("a"), 5s).result()).value();
    impatient.link->set_events(impatient);
    impatient.link->add_credit(3);
    CHECK(t.fixture.eventually([&] { return impatient.got > 0; }));
    t.fixture.quiet();
    CHECK(impatient.got == 1);
    const auto next = t.hold("a");
    t.receive(*next, 3);
    CHECK(next->text() == "1 2 3");
}

PORT_CASE("state: belongs to the session, beyond its messages and holders") {
    PortCase t{port};
    NEEDS(t, session_state);
    using State = std::optional<std::string>;
    auto link = t.hold("a");
    const auto get = [&] {
        return t
            .finish<State>([&](auto handler) { link->link().get_state({}, std::move(handler)); })
            .result()
            .value();
    };
    const auto set = [&](State state) {
        CHECK_FALSE(t.finish<core::Done>([&](auto handler) {
                         link->link().set_state(std::move(state), {}, std::move(handler));
                     }).failure());
    };
    CHECK(get() == std::nullopt);
    set(std::string{"s\0t", 3});
    CHECK(get() == std::string{"s\0t", 3});
    t.close(*link);
    link = t.hold("a");
    CHECK(get() == std::string{"s\0t", 3});
    set(std::nullopt);
    CHECK(get() == std::nullopt);
    set("again");
    set(""); // an empty state is none
    CHECK(get() == std::nullopt);
}
