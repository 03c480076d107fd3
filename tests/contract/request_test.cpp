// SPDX-License-Identifier: MIT
#include "contract/port_case.hpp"

using namespace sessionq;
using namespace sessionq::test;

namespace {

using Numbers = std::vector<std::int64_t>;

ports::SendRequest message_to(const std::string& entity, std::string_view body,
                              Deadline deadline = {}) {
    return {
        .entity = entity, .messages = {Message::of(body).in_session("a")}, .deadline = deadline};
}

/// Whether what came of a request that was given up agrees with what was done: it was carried out,
/// or its failure says whether it may have been.
template <typename T>
void check_outcome(const Answer<T>& answer, bool was_done) {
    if (answer.failure()) {
        CHECK(answer.failure() == Errc::cancelled);
        CHECK((answer.unknown() || !was_done));
    } else {
        CHECK(was_done);
    }
}

/// Destroys its link from within the event that a case names.
struct Impatient final : ports::LinkEvents {
    enum class Event : std::uint8_t { none, settled, drained, lost };

    [[nodiscard]] ports::DeliveryPtr new_delivery() override {
        return std::make_unique<ports::Delivery>();
    }
    void on_delivery(ports::DeliveryPtr delivery) override { got.push_back(std::move(delivery)); }
    void on_settled(ports::Delivery&, const Failure*) override { note(Event::settled); }
    void on_drained() override { note(Event::drained); }
    void on_lost(const Failure&) override { note(Event::lost); }

    void note(Event event) {
        CHECK(link != nullptr);
        if (event == last) {
            ++ended;
            link.reset();
        }
    }

    Event last{Event::none};
    int ended{0};
    std::vector<ports::DeliveryPtr> got{}; // go after the link
    ports::SessionLinkPtr link{};
};

} // namespace

PORT_CASE("R20: request: one whose deadline has passed fails with a timeout and is not sent") {
    PortCase t{port};
    t.send("a", {"1"});
    const auto late = t.finish<Numbers>([&](auto handler) {
        t.endpoint->send(message_to(t.target(), "late", Deadline::at(t.endpoint->loop().now())),
                         std::move(handler));
    });
    CHECK(late.failure() == Errc::timeout);
    CHECK_FALSE(late.unknown());
    t.send("a", {"2"});
    const auto link = t.hold("a");
    t.receive(*link, 2);
    CHECK(link->text() == "1 2");
}

PORT_CASE("R20: request: one that is given up before there is a connection is not sent") {
    PortCase t{port};
    const auto fresh = t.fixture.make_endpoint();
    auto given_up = t.begin<Numbers>([&](auto handler) {
        fresh->give_up(fresh->send(message_to(t.target(), "1"), std::move(handler)));
    });
    CHECK(t.fixture.eventually([&] { return given_up.is_there(); }));
    t.fixture.quiet();
    t.send("a", {"2"});
    const auto link = t.hold("a");
    t.receive(*link, given_up.failure() && !given_up.unknown() ? 1 : 2);
    CHECK(link->text() == (given_up.failure() && !given_up.unknown() ? "2" : "1 2"));
    check_outcome(given_up, link->got.size() == 2);
}

PORT_CASE("R20: request: one that was sent before it was given up says so") {
    PortCase t{port};
    t.send("a", {"1"}); // the way is open
    const auto given_up = t.finish<Numbers>([&](auto handler) {
        const auto id = t.endpoint->send(message_to(t.target(), "2"), std::move(handler));
        t.endpoint->give_up(id);
        t.endpoint->give_up(id + 1000);
    });
    const auto link = t.hold("a");
    t.receive(*link, 2);
    CHECK(link->text() == "1 2");
    check_outcome(given_up, true);
    CHECK(given_up.unknown() == given_up.failure().has_value());
}

PORT_CASE("R20: request: a link's request keeps its deadline and can be given up") {
    PortCase t{port};
    NEEDS(t, session_state);
    using State = std::optional<std::string>;
    const auto link = t.hold("a");
    const auto state = [&] {
        return t
            .finish<State>([&](auto handler) { link->link().get_state({}, std::move(handler)); })
            .result()
            .value();
    };
    CHECK(state() == std::nullopt);
    const auto late = t.finish<core::Done>([&](auto handler) {
        link->link().set_state("late", Deadline::at(t.endpoint->loop().now()), std::move(handler));
    });
    CHECK(late.failure() == Errc::timeout);
    CHECK_FALSE(late.unknown());
    CHECK(state() == std::nullopt);
    const auto given_up = t.finish<core::Done>([&](auto handler) {
        link->link().give_up(link->link().set_state("kept", {}, std::move(handler)));
    });
    CHECK(state() == "kept");
    check_outcome(given_up, true);
    CHECK(given_up.unknown() == given_up.failure().has_value());
}

PORT_CASE("R20: request: an accept ends at its deadline, and its session stays free") {
    PortCase t{port};
    NEEDS(t, accept_next);
    const auto late = t.finish<ports::SessionLinkPtr>([&](auto handler) {
        t.endpoint->accept(
            {.entity = t.entity, .wait = 10s, .deadline = Deadline::at(t.endpoint->loop().now())},
            std::move(handler));
    });
    CHECK((late.failure() == Errc::timeout || late.failure() == Errc::no_session_available));
    t.send("a", {"1"});
    t.fixture.quiet();
    t.receive(*t.hold(t.wanted("a")), 1);
}

PORT_CASE("destroy: from within the answer to a settlement") {
    PortCase t{port};
    t.send("a", {"1", "2", "3"});
    Impatient impatient;
    impatient.last = Impatient::Event::settled;
    impatient.link = std::move(t.accept(t.wanted("a"), 5s).result()).value();
    impatient.link->set_events(impatient);
    impatient.link->add_credit(2);
    CHECK(t.fixture.eventually([&] { return impatient.got.size() == 2; }));
    impatient.link->settle(*impatient.got[0], {.outcome = Outcome::complete});
    impatient.link->settle(*impatient.got[1], {.outcome = Outcome::complete});
    CHECK(t.fixture.eventually([&] { return impatient.ended > 0; }));
    t.fixture.quiet();
    CHECK(impatient.ended == 1);
    t.receive(*t.hold(t.wanted("a")), 1);
}

PORT_CASE("destroy: from within the answer to a drain") {
    PortCase t{port};
    t.send("a", {"1"});
    Impatient impatient;
    impatient.last = Impatient::Event::drained;
    impatient.link = std::move(t.accept(t.wanted("a"), 5s).result()).value();
    impatient.link->set_events(impatient);
    impatient.link->add_credit(2);
    CHECK(t.fixture.eventually([&] { return impatient.got.size() == 1; }));
    impatient.link->drain();
    CHECK(t.fixture.eventually([&] { return impatient.ended > 0; }));
    t.fixture.quiet();
    CHECK(impatient.ended == 1);
    t.receive(*t.hold(t.wanted("a")), 1);
}

PORT_CASE("destroy: from within the loss, and from the answer to a settlement that comes before") {
    PortCase t{port, {.lock_duration = 5s}};
    NEEDS(t, lock_renewal);
    t.send("a", {"1", "2"});
    Impatient impatient;
    SUBCASE("the loss") { impatient.last = Impatient::Event::lost; }
    SUBCASE("an answer") { impatient.last = Impatient::Event::settled; }
    impatient.link = std::move(t.accept(t.wanted("a"), 5s).result()).value();
    impatient.link->set_events(impatient);
    impatient.link->add_credit(2);
    CHECK(t.fixture.eventually([&] { return impatient.got.size() == 2; }));
    t.fixture.pass(5100ms);
    if (impatient.last == Impatient::Event::settled && impatient.link != nullptr) {
        impatient.link->settle(*impatient.got[0], {.outcome = Outcome::complete});
        impatient.link->settle(*impatient.got[1], {.outcome = Outcome::complete});
    }
    CHECK(t.fixture.eventually([&] { return impatient.ended > 0; }));
    t.fixture.quiet();
    CHECK(impatient.ended == 1);
    CHECK_FALSE(t.accept(t.wanted("a"), 5s).failure());
}

PORT_CASE("destroy: from within the handlers of its requests") {
    PortCase t{port};
    NEEDS(t, session_state);
    NEEDS(t, lock_renewal);
    t.send("a", {"1"});
    ports::SessionLinkPtr link = std::move(t.accept(t.wanted("a"), 5s).result()).value();
    Impatient quiet;
    link->set_events(quiet);
    bool destroyed = false;
    const auto destroy = [&](const auto&) {
        destroyed = true;
        link.reset();
    };
    SUBCASE("a renewal") { link->renew_lock({}, destroy); }
    SUBCASE("reading the state") { link->get_state({}, destroy); }
    SUBCASE("writing the state") { link->set_state("s", {}, destroy); }
    SUBCASE("deferred messages") { link->receive_deferred({1}, {}, destroy); }
    SUBCASE("closing") { link->close(destroy); }
    CHECK(t.fixture.eventually([&] { return destroyed; }));
    t.fixture.quiet();
    CHECK_FALSE(t.accept(t.wanted("a"), 5s).failure());
}
