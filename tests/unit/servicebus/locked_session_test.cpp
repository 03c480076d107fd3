// SPDX-License-Identifier: MIT
// Asking for a session and holding one, against a broker whose part the test plays. Time is manual;
// only the bytes take their own, over loopback.
#include "servicebus/locked_session.hpp"

#include <doctest/doctest.h>

#include <asio/io_context.hpp>

#include "amqp/acceptor.hpp"
#include "amqp/codec/encoder.hpp"
#include "amqp/codec/lock_token.hpp"
#include "amqp/codec/message_codec.hpp"
#include "amqp/codec/message_sections.hpp"
#include "servicebus/endpoint.hpp"
#include "support/manual_loop.hpp"
#include "unit/amqp/wire.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using amqp::Value;

namespace {

/// A broker's side of one connection: takes every session and link, and says nothing by itself.
class SilentBroker final : public amqp::ConnectionOwner {
public:
    SilentBroker(amqp::ConnectionHost& host, amqp::StreamPtr stream, std::uint32_t frame_size)
        : connection_{host, std::move(stream), options(frame_size), *this} {}

    void on_open(const amqp::Open&) override {}
    void on_session(amqp::SessionPtr session) override {
        auto& log = *sessions.emplace_back(std::make_unique<test::SessionLog>());
        session->set_listener(&log);
        log.session = std::move(session);
    }
    void on_closed(const amqp::Condition&) override {}

    [[nodiscard]] std::size_t links() const {
        std::size_t count = 0;
        for (const auto& each : sessions) {
            count += each->links.size();
        }
        return count;
    }

    std::vector<std::unique_ptr<test::SessionLog>> sessions{};

private:
    static amqp::ConnectionOptions options(std::uint32_t frame_size) {
        amqp::ConnectionOptions made;
        made.engine.is_server = true;
        made.engine.open = {.container = "broker", .max_frame_size = frame_size};
        made.engine.sasl = amqp::make_sasl_server(nullptr);
        return made;
    }

    amqp::Connection connection_;
};

struct Case {
    explicit Case(detail::servicebus::TokenSourcePtr tokens = nullptr) {
        detail::servicebus::EndpointSettings settings;
        settings.tokens = std::move(tokens);
        settings.target = {.host = "127.0.0.1", .port = acceptor.listen({.port = 0}).value()};
        endpoint = std::make_unique<detail::servicebus::Endpoint>(loop, io, std::move(settings));
    }
    ~Case() {
        endpoint.reset();
        until([] { return false; }, 20);
        broker.reset();
    }

    bool until(const std::function<bool()>& done, int patience = 5000) {
        for (int idle = 0; !done() && idle < patience;) {
            io.restart();
            idle = loop.turn() || io.run_one_for(1ms) != 0 ? 0 : idle + 1;
        }
        return done();
    }

    /// Asks for session "a"; the broker's side of the link is there afterwards, unanswered.
    void ask() {
        begin_ask();
        ++asked;
        REQUIRE(until([this] { return broker && broker->links() == asked; }));
    }
    void begin_ask() {
        accept = endpoint->accept({.entity = "orders", .session_id = "a", .first = first},
                                  [this](core::Result<ports::SessionLinkPtr> answer) {
                                      if (answer.ok()) {
                                          link = std::move(answer).value();
                                      } else {
                                          failure = answer.failure();
                                      }
                                  });
    }
    test::LinkLog& peer() { return *broker->sessions.back()->links.back(); }
    /// Gives the session back and asks for it anew.
    void ask_anew() {
        link.reset();
        ask();
    }

    void grant(std::optional<WallTime> locked_until, const std::string& session = "a") {
        amqp::Attach answer = peer().remote;
        answer.source.filter =
            amqp::encode(Value::map({{Value::symbol("com.microsoft:session-filter"), session}}));
        if (locked_until) {
            answer.properties =
                amqp::encode(Value::map({{Value::symbol("com.microsoft:locked-until-utc"),
                                          amqp::ticks_of(*locked_until)}}));
        }
        peer().sender->open(answer);
        REQUIRE(until([this] { return link != nullptr || failure; }));
    }

    /// The broker's side of the client's link to or from `node`; null if there is none.
    test::LinkLog* link_of(const std::string& node, bool of_requests) {
        if (!broker) {
            return nullptr;
        }
        for (const auto& session : broker->sessions) {
            for (const auto& each : session->links) {
                const bool is_it = of_requests
                                       ? each->receiver && each->remote.target.address == node
                                       : each->sender && each->remote.source.address == node;
                if (is_it) {
                    return each.get();
                }
            }
        }
        return nullptr;
    }
    /// Waits for request number `at` to `node`, and answers it.
    void answer(const std::string& node, std::size_t at, std::int32_t status,
                const Value& body = {}) {
        REQUIRE(until([&] { return link_of(node, true) && link_of(node, false); }));
        test::LinkLog& requests = *link_of(node, true);
        test::LinkLog& answers = *link_of(node, false);
        if (at == 0) {
            requests.receiver->open(requests.remote);
            requests.receiver->add_credit(10);
            answers.sender->open(answers.remote);
        }
        REQUIRE(until([&] { return requests.messages.size() == at + 1; }));
        const auto sections = amqp::MessageSections::find(requests.messages[at]);
        const auto properties = amqp::MessageProperties::read(sections->properties);
        const std::string id{properties->id(amqp::MessageProperties::message_id)};
        std::string encoded;
        amqp::Encoder encoder{encoded};
        encoder.write(
            Value::described(amqp::section::properties,
                             amqp::List{Value{}, Value{}, Value{}, Value{}, Value{}, Value{id}}));
        encoder.write(Value::described(amqp::section::application_properties,
                                       Value::map({{"statusCode", status}})));
        encoder.write(Value::described(amqp::section::value, body));
        answers.sender->send("t" + std::to_string(at), encoded, true);
    }
    /// Renews the lock; the broker answers request number `at` of its $management.
    core::Result<ports::LockGrant> renew(std::size_t at, std::int32_t status, WallTime until_then) {
        std::optional<core::Result<ports::LockGrant>> renewed;
        link->renew_lock({}, [&](auto grant) { renewed.emplace(std::move(grant)); });
        answer("orders/$management", at, status,
               Value::map({{"expiration", amqp::Timestamp::of(until_then)}}));
        REQUIRE(until([&] { return renewed.has_value(); }));
        return *std::move(renewed);
    }

    test::ManualLoop loop{};
    asio::io_context io{1};
    asio::executor_work_guard<asio::io_context::executor_type> guard{io.get_executor()};
    amqp::ConnectionHost host{loop, io};
    std::uint32_t frame_size{65536}; ///< that the broker takes
    std::unique_ptr<SilentBroker> broker{};
    amqp::Admission admission{};
    amqp::Acceptor acceptor{host, admission, [this](amqp::StreamPtr stream) {
                                broker = std::make_unique<SilentBroker>(host, std::move(stream),
                                                                        frame_size);
                            }};
    std::unique_ptr<detail::servicebus::Endpoint> endpoint{};
    ports::FirstCredit first{}; ///< of accepts
    std::size_t asked{0};
    ports::RequestId accept{0};
    ports::SessionLinkPtr link{};
    std::optional<Failure> failure{};
};

struct Events final : ports::LinkEvents {
    ports::DeliveryPtr new_delivery() override { return std::make_unique<ports::Delivery>(); }
    void on_delivery(ports::DeliveryPtr delivery) override {
        bodies.emplace_back(delivery->message.text());
        deliveries.push_back(std::move(delivery));
    }
    void on_settled(ports::Delivery&, const Failure* failure) override {
        settled.push_back(failure != nullptr ? std::optional{failure->code} : std::nullopt);
    }
    void on_drained() override { bodies.emplace_back("drained"); }
    void on_lock_uncertain() override { ++uncertain; }
    void on_lost(const Failure&) override { lost = true; }

    std::vector<std::string> bodies{};
    std::vector<ports::DeliveryPtr> deliveries{};
    std::vector<std::optional<Errc>> settled{};
    int uncertain{0};
    bool lost{false};
};

} // namespace

TEST_CASE("R19: link: an accept that is given up is told to the broker at once, and a session "
          "granted meanwhile is not taken") {
    Case t;
    t.ask();
    t.endpoint->give_up(t.accept);
    t.peer().sender->open(t.peer().sender->remote()); // the answer crosses the giving up
    CHECK(t.until([&] { return t.peer().closed || t.peer().gone; }));
    CHECK(t.until([&] { return t.failure.has_value(); }));
    CHECK(t.failure->code == Errc::cancelled);
    CHECK(t.link == nullptr);
}

TEST_CASE("link: R29: a session may be granted in another case, and is called so") {
    Case t;
    t.ask();
    t.grant(t.loop.wall_now() + 30s, "A");
    REQUIRE(t.link != nullptr);
    CHECK(t.link->session_id() == "A");
    Events events;
    t.link->set_events(events);
    t.link->add_credit(1);
    REQUIRE(t.until([&] { return t.peer().sender->credit() == 1; }));
    t.peer().sender->send("0123456789abcdef",
                          amqp::encode_message(Message::of("1").in_session("a"), {}), false);
    CHECK(t.until([&] { return events.bodies == std::vector<std::string>{"1"}; }));
    t.link.reset();
}

TEST_CASE("link: another session than the one asked for is not taken") {
    Case t;
    t.ask();
    t.grant(t.loop.wall_now() + 30s, "b");
    CHECK(t.link == nullptr);
    REQUIRE(t.failure);
    CHECK(t.failure->code == Errc::protocol_error);
    CHECK(t.until([&] { return t.peer().closed || t.peer().gone; }));
}

TEST_CASE("link: an accept that is answered without a session fails as the detach says") {
    Case t;
    t.ask();
    amqp::Attach answer = t.peer().remote;
    SUBCASE("the answer has no filter") { answer.source.filter.clear(); }
    SUBCASE("the filter names none") {
        answer.source.filter =
            amqp::encode(Value::map({{Value::symbol("com.microsoft:session-filter"), Value{}}}));
    }
    t.peer().sender->open(answer);
    t.until([] { return false; }, 20);
    CHECK_FALSE(t.failure); // the reason follows
    t.peer().sender->close({.name = "com.microsoft:session-cannot-be-locked", .text = "in use"});
    REQUIRE(t.until([&] { return t.failure.has_value(); }));
    CHECK(t.failure->code == Errc::session_locked_elsewhere);
    CHECK(t.failure->peer_text == "in use");
    CHECK(t.link == nullptr);
}

TEST_CASE("R4: link: credit and drain go out with the attach, and what comes on them before the "
          "owner listens is told in its order") {
    Case t;
    t.first = {.count = 4, .drain = true};
    t.ask();
    REQUIRE(t.until([&] { return t.peer().sender->credit() == 4; }));
    CHECK(t.peer().sender->is_draining());
    amqp::Attach answer = t.peer().remote;
    answer.source.filter =
        amqp::encode(Value::map({{Value::symbol("com.microsoft:session-filter"), "a"}}));
    t.peer().sender->open(answer);
    for (const char* body : {"1", "2"}) {
        t.peer().sender->send("0123456789abcde" + std::string{body},
                              amqp::encode_message(Message::of(body).in_session("a"), {}), false);
    }
    t.peer().sender->drained();
    REQUIRE(t.until([&] { return t.link != nullptr; }));
    Events events;
    SUBCASE("it goes on") {
        const ports::FirstCredit first = t.link->set_events(events);
        CHECK(first.count == 4);
        CHECK(first.drain);
        CHECK(events.bodies.empty()); // by a later turn
        REQUIRE(t.until([&] { return events.bodies.size() == 3; }));
        CHECK(events.bodies == std::vector<std::string>{"1", "2", "drained"});
        t.link->add_credit(1);
        REQUIRE(t.until([&] { return t.peer().sender->credit() == 1; }));
        t.peer().sender->send("0123456789abcdef",
                              amqp::encode_message(Message::of("3").in_session("a"), {}), false);
        CHECK(t.until([&] { return events.bodies.size() == 4; }));
    }
    SUBCASE("it is given back unused") {
        t.link.reset();
        CHECK(t.until([&] { return t.peer().closed; }));
    }
    SUBCASE("it ends before its owner listens") {
        t.peer().sender->close({.name = "com.microsoft:session-lock-lost"});
        t.until([] { return false; }, 20);
        t.link->set_events(events);
        REQUIRE(t.until([&] { return events.lost; }));
        CHECK(events.bodies.empty());
    }
}

TEST_CASE("R4: link: a broker that refuses credit before its answer is asked without, and never "
          "with it again") {
    Case t;
    t.first = {.count = 4, .drain = false};
    t.ask();
    REQUIRE(t.until([&] { return t.peer().sender->credit() == 4; }));
    t.peer().sender->refuse({.name = "amqp:illegal-state"});
    ++t.asked;
    REQUIRE(t.until([&] { return t.broker->links() == t.asked; }));
    CHECK_FALSE(t.failure.has_value());
    t.grant(t.loop.wall_now() + 30s);
    CHECK(t.peer().sender->credit() == 0);
    Events events;
    CHECK(t.link->set_events(events).count == 0);
    t.ask_anew();
    t.grant(t.loop.wall_now() + 30s);
    CHECK(t.link->set_events(events).count == 0);
}

TEST_CASE("R4: link: a broker that ends the connection for such credit is given none after two") {
    Case t;
    t.first = {.count = 4, .drain = true};
    for (const std::uint32_t credit : {4U, 4U, 0U}) {
        t.begin_ask();
        REQUIRE(t.until([&] {
            t.loop.advance(10ms); // there is a pause before it connects again
            return t.broker && t.broker->links() == 1;
        }));
        t.until([] { return false; }, 20);
        CHECK(t.peer().sender->credit() == credit);
        if (credit != 0) {
            t.broker.reset();
            REQUIRE(t.until([&] { return t.failure.has_value(); }));
            CHECK(std::exchange(t.failure, std::nullopt)->code == Errc::connection_lost);
        }
    }
    t.grant(t.loop.wall_now() + 30s);
}

TEST_CASE("R4: link: a refusal without credit is told") {
    Case t;
    t.first = {.count = 4, .drain = false};
    t.ask();
    t.peer().sender->refuse({.name = "amqp:not-allowed", .text = "no sessions here"});
    ++t.asked;
    REQUIRE(t.until([&] { return t.broker->links() == t.asked; }));
    t.peer().sender->refuse({.name = "amqp:not-allowed", .text = "no sessions here"});
    REQUIRE(t.until([&] { return t.failure.has_value(); }));
    CHECK(t.failure->code == Errc::session_required);
}

TEST_CASE("R5: link: a wait that is over without a session is no failure of the connection") {
    Case t;
    t.ask();
    t.peer().sender->refuse({.name = "com.microsoft:timeout", .text = "none within the wait"});
    REQUIRE(t.until([&] { return t.failure.has_value(); }));
    CHECK(t.failure->code == Errc::no_session_available);
}

TEST_CASE("R12: link: a lock's end that only a difference of the clocks explains is taken for a "
          "short lock") {
    Case t;
    t.ask();
    const WallTime now = t.loop.wall_now();
    std::optional<Duration> expected;
    SUBCASE("a usual one") {
        t.grant(now + 30s);
        expected = 30s;
    }
    SUBCASE("the broker's clock is far ahead") {
        t.grant(now + 10min);
        expected = 5s;
    }
    SUBCASE("it is behind") {
        t.grant(now - 10min);
        expected = 5s;
    }
    SUBCASE("it does not say") {
        t.grant(std::nullopt);
        expected = 1s;
    }
    const auto length = t.link->initial_lock().length;
    REQUIRE(length);
    CHECK(*length <= *expected);
    CHECK(*length >= *expected - 100ms); // ticks are counted, and time passes on the way
}

TEST_CASE("R12: link: a fresh message shows that the broker's clock is ahead, and later locks are "
          "taken for no longer than they are") {
    Case t;
    t.ask();
    t.grant(t.loop.wall_now() + 90s); // thirty seconds, by a clock that is a minute ahead
    CHECK(*t.link->initial_lock().length > 80s);
    Events events;
    t.link->set_events(events);
    t.link->add_credit(1);
    REQUIRE(t.until([&] { return t.peer().sender->credit() == 1; }));
    const auto annotations = Value::map(
        {{Value::symbol("x-opt-enqueued-time"), amqp::Timestamp::of(t.loop.wall_now() + 60s)}});
    t.peer().sender->send("0123456789abcdef",
                          std::string{"\x00\x53\x72", 3} + amqp::encode(annotations) +
                              std::string{"\x00\x53\x75\xa0\x02ok", 7},
                          false);
    REQUIRE(t.until([&] { return events.bodies.size() == 1; }));
    REQUIRE(t.until([&] { return events.uncertain != 0; }));
    CHECK(events.uncertain == 1); // the lock it came under is one of those
    t.ask_anew();
    t.grant(t.loop.wall_now() + 90s);
    CHECK(*t.link->initial_lock().length <= 30s);
    CHECK(*t.link->initial_lock().length > 29s);
    t.link.reset();
}

TEST_CASE(
    "R12: link: a lock that is over long before its end shows that the broker's clock is ahead") {
    Case t;
    t.ask();
    t.grant(t.loop.wall_now() + 90s);
    Events events;
    t.link->set_events(events);
    std::string why;
    Duration expected{};
    SUBCASE("it ran out") {
        why = "com.microsoft:session-lock-lost";
        expected = 30s;
    }
    SUBCASE("it is another fault") {
        why = "amqp:link:detach-forced";
        expected = 90s;
    }
    t.loop.advance(30s);
    t.peer().sender->refuse({.name = why, .text = "it is over"});
    REQUIRE(t.until([&] { return events.lost; }));
    t.ask_anew();
    t.grant(t.loop.wall_now() + 90s);
    CHECK(*t.link->initial_lock().length <= expected);
    CHECK(*t.link->initial_lock().length > expected - 1s);
    t.link.reset();
}

TEST_CASE("R12: link: a renewal that finds the lock ended shows that the broker's clock is ahead") {
    Case t;
    t.ask();
    t.grant(t.loop.wall_now() + 90s); // thirty seconds, by a clock that is a minute ahead
    Events events;
    t.link->set_events(events);
    std::int32_t status = 0;
    Duration expected{};
    SUBCASE("it ended") {
        status = 410;
        expected = 30s;
    }
    SUBCASE("another failure") {
        status = 500;
        expected = 90s;
    }
    t.loop.advance(30s);
    const auto failed = t.renew(0, status, t.loop.wall_now());
    REQUIRE_FALSE(failed.ok());
    CHECK((failed.failure().code == Errc::lock_lost) == (status == 410));
    const auto renewed = t.renew(1, 200, t.loop.wall_now() + 90s);
    REQUIRE(renewed.ok());
    CHECK(*renewed.value().length <= expected);
    CHECK(*renewed.value().length > expected - 1s);
    t.link.reset();
}

TEST_CASE("link: a request that is rejected for want of a right has a new token sent") {
    Case t{detail::servicebus::make_ready_tokens("SharedAccessSignature sr=x&sig=y&se=1&skn=z")};
    t.begin_ask();
    t.answer("$cbs", 0, 200); // the entity
    REQUIRE(t.until([&] { return t.link_of("orders", false) != nullptr; }));
    amqp::Attach granted = t.link_of("orders", false)->remote;
    granted.source.filter =
        amqp::encode(Value::map({{Value::symbol("com.microsoft:session-filter"), "a"}}));
    t.link_of("orders", false)->sender->open(granted);
    REQUIRE(t.until([&] { return t.link != nullptr; }));
    Events events;
    t.link->set_events(events);
    std::optional<Errc> told;
    const auto ask = [&] {
        told.reset();
        t.link->get_state(
            {}, [&](const auto& answer) { told = answer.ok() ? Errc{} : answer.failure().code; });
    };
    ask();
    t.answer("$cbs", 1, 202); // its $management
    t.answer("orders/$management", 0, 401);
    REQUIRE(t.until([&] { return told.has_value(); }));
    CHECK(told == Errc::unauthorized);
    ask();
    t.answer("$cbs", 2, 200);
    t.answer("orders/$management", 1, 200);
    REQUIRE(t.until([&] { return told.has_value(); }));
    CHECK(told == Errc{});
    ask(); // the right is kept
    t.answer("orders/$management", 2, 200);
    REQUIRE(t.until([&] { return told.has_value(); }));
    t.link.reset();
}

TEST_CASE("link: a message that cannot be decoded is refused, and its credit serves the next") {
    Case t;
    t.ask();
    t.grant(t.loop.wall_now() + 30s);
    Events events;
    t.link->set_events(events);
    t.link->add_credit(1);
    REQUIRE(t.until([&] { return t.peer().sender->credit() == 1; }));
    t.peer().sender->send("0123456789abcdef", std::string_view{"\x00\x53\x75\xa0\x7f\x01", 6},
                          false);
    REQUIRE(t.until([&] { return !t.peer().outcomes.empty(); }));
    CHECK(t.peer().outcomes[0].kind == amqp::OutcomeKind::rejected);
    CHECK(t.peer().outcomes[0].error.name == "amqp:decode-error");
    CHECK(t.peer().outcomes[0].error.text == "the message cannot be decoded: malformed sections");
    REQUIRE(t.until([&] { return t.peer().sender->credit() == 1; }));
    t.peer().sender->send("fedcba9876543210", std::string_view{"\x00\x53\x75\xa0\x02ok", 7}, false);
    CHECK(t.until([&] { return events.bodies == std::vector<std::string>{"ok"}; }));
    t.link.reset();
}

TEST_CASE("R15: link: who closes it when its settlements fail hears of no loss after that, and has "
          "its answer") {
    struct Closing final : ports::LinkEvents {
        explicit Closing(Case& of) : test{of} {}
        ports::DeliveryPtr new_delivery() override { return std::make_unique<ports::Delivery>(); }
        void on_delivery(ports::DeliveryPtr arrived) override { delivery = std::move(arrived); }
        void on_settled(ports::Delivery&, const Failure* failure) override {
            said.emplace_back(failure != nullptr ? "settlement failed" : "settled");
            test.link->close(
                [this](const core::Result<core::Done>&) { said.emplace_back("closed"); });
        }
        void on_drained() override {}
        void on_lost(const Failure&) override { said.emplace_back("lost"); }

        Case& test;
        ports::DeliveryPtr delivery{};
        std::vector<std::string> said{};
    };
    Case t;
    t.ask();
    t.grant(t.loop.wall_now() + 30s);
    Closing events{t};
    t.link->set_events(events);
    t.link->add_credit(1);
    REQUIRE(t.until([&] { return t.peer().sender->credit() == 1; }));
    t.peer().sender->send("0123456789abcdef", std::string_view{"\x00\x53\x75\xa0\x02ok", 7}, false);
    REQUIRE(t.until([&] { return events.delivery != nullptr; }));
    t.link->settle(*events.delivery, {.outcome = ports::Outcome::complete});
    t.broker.reset();
    REQUIRE(t.until([&] { return events.said.size() >= 2; }));
    CHECK(!t.until([&] { return events.said.size() > 2; }, 20));
    CHECK(events.said == std::vector<std::string>{"settlement failed", "closed"});
    t.link.reset();
}

TEST_CASE("R13: link: a loss that comes before there is anybody to tell is told to who comes") {
    struct Losing final : ports::LinkEvents {
        ports::DeliveryPtr new_delivery() override { return std::make_unique<ports::Delivery>(); }
        void on_delivery(ports::DeliveryPtr) override {}
        void on_settled(ports::Delivery&, const Failure*) override {}
        void on_drained() override {}
        void on_lost(const Failure& reason) override { lost.push_back(reason.code); }

        std::vector<Errc> lost{};
    };
    Case t;
    t.ask();
    t.grant(t.loop.wall_now() + 30s);
    t.broker.reset();
    CHECK(!t.until([] { return false; }, 20));
    Losing events;
    t.link->set_events(events);
    CHECK(events.lost.empty()); // not from within a call
    REQUIRE(t.until([&] { return !events.lost.empty(); }));
    CHECK(events.lost == std::vector<Errc>{Errc::connection_lost});
    t.link.reset();
}

/// Settles one of two messages with more than a frame of the broker's can have, and completes the
/// other. The broker answers the request for it with `answer`.
void settle_with_much(const ports::Settlement& settlement, const char* status,
                      std::int32_t answer) {
    Case t;
    t.frame_size = 512;
    t.ask();
    t.grant(t.loop.wall_now() + 30s);
    Events events;
    t.link->set_events(events);
    t.link->add_credit(2);
    const test::LinkLog& session = t.peer();
    REQUIRE(t.until([&] { return session.sender->credit() == 2; }));
    const std::string tag = "0123456789abcdef";
    for (const std::string& each : {tag, std::string{"another message."}}) {
        session.sender->send(each, amqp::encode_message(Message::of("1").in_session("a"), {}),
                             false);
    }
    REQUIRE(t.until([&] { return events.deliveries.size() == 2; }));

    t.link->settle(*events.deliveries[0], ports::Settlement{settlement});
    t.link->settle(*events.deliveries[1], {.outcome = ports::Outcome::complete});
    t.answer("orders/$management", 0, answer);
    REQUIRE(t.until([&] { return !events.settled.empty(); }));
    CHECK(events.settled[0].has_value() == (answer != 200));
    if (answer == 200) {
        CHECK(t.until([&] { return session.settled.size() == 2; })); // the link forgets it, too
    }
    const auto sections =
        amqp::MessageSections::find(t.link_of("orders/$management", true)->messages.at(0));
    amqp::Decoder body{sections->body};
    REQUIRE(body.read_descriptor());
    const auto map = body.read();
    REQUIRE(map);
    CHECK(*map->find("disposition-status") == Value{status});
    CHECK(*map->find("session-id") == Value{"a"});
    CHECK(map->find("lock-tokens")->items()->front() == Value{*amqp::token_of(tag)});
    if (settlement.outcome == ports::Outcome::dead_letter) {
        CHECK(*map->find("deadletter-reason") == Value{settlement.dead_letter.reason});
        CHECK(*map->find("deadletter-description") == Value{settlement.dead_letter.description});
    } else {
        CHECK(map->find("properties-to-modify")->find("k") != nullptr);
    }
    CHECK(session.outcomes.at(0).kind == amqp::OutcomeKind::accepted); // of the other message
    CHECK_FALSE(events.lost);
    t.link.reset(); // before what it tells
}

TEST_CASE(
    "link: a settlement that is larger than a frame of the broker's goes by request, and ends "
    "nothing") {
    const std::string large(2000, 'x');
    for (const std::int32_t answer : {200, 410}) {
        CAPTURE(answer);
        settle_with_much(
            {.outcome = ports::Outcome::abandon, .properties_to_modify = {{"k", large}}},
            "abandoned", answer);
        settle_with_much({.outcome = ports::Outcome::defer, .properties_to_modify = {{"k", large}}},
                         "defered", answer);
        settle_with_much({.outcome = ports::Outcome::dead_letter,
                          .dead_letter = {.reason = "Broken", .description = large}},
                         "suspended", answer);
    }
}

TEST_CASE("link: a request that is larger than the broker takes is refused alone") {
    std::vector<std::optional<Errc>> answers; // outlives the request that stays unanswered
    Case t;
    t.ask();
    t.grant(t.loop.wall_now() + 30s);
    const auto set = [&](std::size_t size) {
        t.link->set_state(std::string(size, 'x'), {}, [&](const core::Result<core::Done>& answer) {
            answers.push_back(answer ? std::nullopt : std::optional{answer.failure().code});
        });
    };
    set(5000);
    set(10);
    const std::string node = "orders/$management";
    REQUIRE(t.until([&] { return t.link_of(node, true) && t.link_of(node, false); }));
    test::LinkLog& requests = *t.link_of(node, true);
    amqp::Attach limited = requests.remote;
    limited.max_message_size = 1000;
    requests.receiver->open(limited);
    requests.receiver->add_credit(10);
    t.link_of(node, false)->sender->open(t.link_of(node, false)->remote);
    REQUIRE(t.until([&] { return !answers.empty(); }));
    CHECK(answers[0] == Errc::message_too_large);
    CHECK(t.until([&] { return requests.messages.size() == 1; }));
    CHECK_FALSE(requests.closed);
}
