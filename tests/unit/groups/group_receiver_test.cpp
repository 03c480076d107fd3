// SPDX-License-Identifier: MIT
// A receiver and a broker played beside it, on one loop whose time moves when the test says so.
// Their bytes go over loopback, and waits for them are bounded.
#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>

#include "amqp/acceptor.hpp"
#include "amqp/codec/encoder.hpp"
#include "amqp/codec/message_codec.hpp"
#include "contract/recording_link.hpp"
#include "groups/endpoint.hpp"
#include "support/manual_loop.hpp"

using namespace sessionq;
using namespace sessionq::amqp;
using namespace std::chrono_literals;

namespace {

/// A broker with one queue: gives what it is told to give to the link attached last, and counts
/// links.
class Broker final : ConnectionOwner, SessionListener, LinkListener {
public:
    Broker(core::EventLoop& loop, asio::io_context& io, std::string product)
        : host_{loop, io}, acceptor_{host_, admission_, [this, product](StreamPtr stream) {
                                         ConnectionOptions options;
                                         options.engine = {
                                             .is_server = true,
                                             .open = {.container = "broker",
                                                      .properties = encode(Value::map(
                                                          {{Value::symbol("product"),
                                                            std::string_view{product}}})),
                                                      .max_frame_size = 65536},
                                             .sasl = make_sasl_server({})};
                                         ConnectionOwner& owner = *this;
                                         connection_ = std::make_unique<Connection>(
                                             host_, std::move(stream), std::move(options), owner);
                                     }} {
        port = acceptor_.listen({.port = 0}).value();
    }
    ~Broker() override {
        links_.clear();
        session_.reset();
        connection_.reset();
    }
    Broker(const Broker&) = delete;
    Broker& operator=(const Broker&) = delete;

    void give(std::string_view group, std::string_view body, bool is_marked_first) {
        Message message = Message::text(group, body);
        if (is_marked_first) {
            message.properties.emplace("JMSXGroupFirstForConsumer", true);
        }
        queue_.emplace(++last_tag_, encode_message(message, {}));
        on_flow();
    }

    std::uint16_t port{0};
    int attached{0};
    int detached{0};
    int accepted{0};
    int failed{0};      // and back in the queue
    bool answers{true}; // to outcomes

    /// The connection breaks.
    void cut() {
        links_.clear();
        session_.reset();
        connection_.reset();
    }

private:
    void on_open(const Open&) override {}
    void on_session(SessionPtr made) override {
        session_ = std::move(made);
        session_->set_listener(this);
    }
    void on_closed(const Condition&) override {}
    void on_sender(SenderLinkPtr link) override {
        ++attached;
        link->set_listener(this);
        link->open(link->remote());
        links_.push_back(std::move(link));
    }
    void on_receiver(ReceiverLinkPtr link) override { link->refuse({.name = "amqp:not-allowed"}); }
    void on_session_ended(const Condition&) override {}
    void on_link_closed(const Condition&, bool) override {
        ++detached;
        links_.back()->close();
    }
    void on_link_gone(const Condition&) override {}
    void on_flow() override {
        if (links_.empty() || links_.back()->is_gone()) {
            return;
        }
        SenderLink& link = *links_.back();
        while (!queue_.empty() && link.credit() != 0) {
            const auto sent = queue_.extract(queue_.begin());
            link.send(std::to_string(sent.key()), sent.mapped(), false);
            sent_[sent.key()] = sent.mapped();
        }
        if (link.is_draining()) {
            link.drained();
        }
    }
    void on_disposition(DeliveryHandle delivery) override {
        const int tag = std::stoi(std::string{delivery.tag()});
        const OutcomeKind kind = delivery.remote_kind();
        accepted += kind == OutcomeKind::accepted ? 1 : 0;
        failed += kind == OutcomeKind::modified ? 1 : 0;
        if (kind == OutcomeKind::modified || kind == OutcomeKind::released) {
            queue_.emplace(tag, sent_.at(tag));
        }
        if (answers) {
            delivery.settle();
        }
        on_flow();
    }

    ConnectionHost host_;
    Admission admission_{};
    Acceptor acceptor_;
    std::unique_ptr<Connection> connection_{};
    SessionPtr session_{};
    std::vector<SenderLinkPtr> links_{};
    std::map<int, std::string> queue_{}; // by tag, so what comes back has its place
    std::map<int, std::string> sent_{};
    int last_tag_{0};
};

struct World {
    explicit World(std::string product = "apache-activemq-artemis")
        : broker{loop, io, std::move(product)} {}

    /// Until it is so; in the world's time, and the test's stands still.
    bool until(const std::function<bool()>& done) {
        const auto hopeless = std::chrono::steady_clock::now() + 20s;
        while (!done() && std::chrono::steady_clock::now() < hopeless) {
            loop.run_until_idle();
            io.restart();
            io.run_one_for(1ms);
        }
        return done();
    }
    ports::RequestId accept() { return accept({.entity = "queue", .wait = 24h}); }
    ports::RequestId accept(ports::AcceptRequest request) {
        return endpoint->accept(
            std::move(request), [this](core::Result<ports::SessionLinkPtr> answer) {
                if (answer.ok()) {
                    sessions.push_back(
                        std::make_unique<test::RecordingLink>(std::move(answer).value()));
                    sessions.back()->credit(10);
                } else {
                    refused.push_back(answer.failure().code);
                    if (on_refused) {
                        on_refused();
                    }
                }
            });
    }
    /// Waits for the answer to an accept, and for so many messages.
    test::RecordingLink& session_with(std::size_t messages) {
        REQUIRE(
            until([&] { return !sessions.empty() && sessions.back()->got.size() == messages; }));
        return *sessions.back();
    }
    /// Gives a message to who waits for a session, and completes it there.
    test::RecordingLink& handle(std::string_view group, std::string_view body,
                                bool is_marked_first) {
        const std::size_t before = sessions.size();
        broker.give(group, body, is_marked_first);
        REQUIRE(
            until([&] { return sessions.size() > before && sessions.back()->got.size() == 1; }));
        test::RecordingLink& session = *sessions.back();
        session.settle(*session.got.front(), ports::Outcome::complete);
        REQUIRE(until([&] { return session.settled.size() == 1; }));
        return session;
    }
    void leave(test::RecordingLink& session) {
        session.close();
        REQUIRE(until([&] { return session.closed; }));
    }

    test::ManualLoop loop{};
    asio::io_context io{1};
    asio::executor_work_guard<asio::io_context::executor_type> guard{io.get_executor()};
    Broker broker;
    std::vector<Errc> refused{}; // the endpoint's end answers accepts
    std::function<void()> on_refused{};
    std::optional<groups::Endpoint> endpoint{
        std::in_place, loop, io,
        groups::EndpointSettings{
            .url = groups::ConnectionUrl::parse("amqp://127.0.0.1:" + std::to_string(broker.port))
                       .value(),
            .idle_timeout = 24h}};
    std::vector<std::unique_ptr<test::RecordingLink>> sessions{};
};

} // namespace

TEST_CASE("group receiver: a link whose groups were idle for a second is given up, and attached "
          "again for an accept that waits") {
    World world;
    world.accept();
    test::RecordingLink& session = world.handle("a", "1", false);
    world.accept();
    world.leave(session);
    CHECK(world.broker.attached == 1);
    world.loop.advance(1s);
    CHECK(world.until([&] { return world.broker.attached == 2; }));
    CHECK(world.broker.detached == 1);
    CHECK(world.handle("b", "2", false).text() == "2");
}

TEST_CASE("group receiver: an idle link is kept if the queue marks the first message of a group, "
          "because its return could rebalance all groups") {
    World world;
    world.accept();
    for (int i = 0; i < 5; ++i) { // what the client said before has come when it has answered
        test::RecordingLink& session = world.handle("a", std::to_string(i), i == 0);
        world.accept();
        world.leave(session);
        world.loop.advance(3s);
    }
    CHECK(world.broker.accepted == 5);
    CHECK(world.broker.attached == 1);
    CHECK(world.broker.detached == 0);
}

TEST_CASE("group receiver: an unused link is given up, whatever the queue marks") {
    World world;
    world.accept();
    world.leave(world.handle("a", "1", true));
    CHECK(world.until([&] { return world.broker.detached == 1; }));
    CHECK(world.broker.accepted == 1);
}

TEST_CASE("group receiver: a session is lost when its group is dealt anew while no message is in "
          "hand, and the message opens the next session") {
    World world;
    world.accept();
    test::RecordingLink& first = world.handle("a", "1", true);
    world.accept();
    CHECK(world.handle("a", "2", true).text() == "2");
    CHECK(first.lost == Errc::lock_lost);
    CHECK(first.text() == "1");
}

TEST_CASE("group receiver: R6: an abandoned message is answered once it is back at the broker, and "
          "comes again before those behind it") {
    World world;
    world.broker.give("a", "1", false);
    world.broker.give("a", "2", false);
    world.accept();
    test::RecordingLink& session = world.session_with(2);
    session.settle(*session.got[1], ports::Outcome::release);
    session.settle(*session.got[0], ports::Outcome::abandon);
    REQUIRE(world.until([&] { return session.got.size() == 4; }));
    CHECK(session.text() == "1 2 1 2");
    CHECK(session.settled.size() == 2);
    CHECK_FALSE(session.settled[0].failed_with);
    CHECK_FALSE(session.settled[1].failed_with);
    CHECK(world.broker.failed == 1);
    for (const std::size_t i : {2U, 3U}) {
        session.settle(*session.got[i], ports::Outcome::complete);
    }
    REQUIRE(world.until([&] { return world.broker.accepted == 2; }));
    world.leave(session);
}

TEST_CASE("group receiver: an accept ends without a session after its wait, at once if it does not "
          "wait, and with a timeout at its deadline") {
    World world;
    world.accept({.entity = "queue"});
    REQUIRE(world.until([&] { return world.refused.size() == 1; }));
    CHECK(world.refused.back() == Errc::no_session_available);
    world.accept({.entity = "queue", .wait = 2s});
    world.accept(
        {.entity = "queue", .wait = 24h, .deadline = Deadline::after(1s, world.loop.now())});
    REQUIRE(world.until([&] { return world.broker.attached == 2; }));
    world.loop.advance(1s);
    REQUIRE(world.until([&] { return world.refused.size() == 2; }));
    CHECK(world.refused.back() == Errc::timeout);
    world.loop.advance(1s);
    REQUIRE(world.until([&] { return world.refused.size() == 3; }));
    CHECK(world.refused.back() == Errc::no_session_available);
    CHECK(world.until([&] { return world.broker.detached == 2; })); // nobody needs the link
    world.accept({.entity = "queue", .deadline = Deadline::after(0s, world.loop.now())});
    REQUIRE(world.until([&] { return world.refused.size() == 4; }));
    CHECK(world.refused.back() == Errc::timeout);
}

TEST_CASE(
    "group receiver: R19: an accept that is given up is cancelled, and the link goes; the next "
    "accept gets what came meanwhile") {
    World world;
    const ports::RequestId id = world.accept();
    REQUIRE(world.until([&] { return world.broker.attached == 1; }));
    world.endpoint->give_up(id);
    REQUIRE(world.until([&] { return world.refused.size() == 1; }));
    CHECK(world.refused.back() == Errc::cancelled);
    REQUIRE(world.until([&] { return world.broker.detached == 1; }));
    world.broker.give("a", "1", false);
    world.accept();
    CHECK(world.session_with(1).text() == "1");
}

TEST_CASE("group receiver: a session by name: credit is the session's own, and one client holds it "
          "once") {
    World world;
    const ports::AcceptRequest named{.entity = "queue", .session_id = "a", .wait = 24h};
    world.accept(named); // the dialect is learned from the broker
    REQUIRE(world.until([&] { return world.sessions.size() + world.refused.size() == 1; }));
    if (!world.refused.empty()) {
        CHECK(world.refused.back() == Errc::not_supported); // until the broker is known
        world.refused.clear();
        world.accept({.entity = "queue"});
        REQUIRE(world.until([&] { return world.refused.size() == 1; }));
        world.refused.clear();
        world.accept(named);
        REQUIRE(world.until([&] { return world.sessions.size() == 1; }));
    }
    for (int i = 0; i < 12; ++i) {
        world.broker.give("a", std::to_string(i), false);
    }
    test::RecordingLink& session = world.session_with(10); // its credit
    world.accept(named);
    REQUIRE(world.until([&] { return world.refused.size() == 1; }));
    CHECK(world.refused.back() == Errc::session_locked_elsewhere);
    session.credit(10);
    REQUIRE(world.until([&] { return session.got.size() == 12; }));
    session.drain();
    REQUIRE(world.until([&] { return session.drained == 1; }));
    for (const auto& each : session.got) {
        session.settle(*each, ports::Outcome::complete);
    }
    REQUIRE(world.until([&] { return world.broker.accepted == 12; }));
    world.leave(session);
    world.accept(named);
    REQUIRE(world.until([&] { return world.sessions.size() == 2; }));
}

TEST_CASE("group receiver: where the broker answers outcomes, a close waits for the answers") {
    World world{"Apache Qpid Broker-J"};
    world.broker.answers = false;
    world.broker.give("a", "1", false);
    world.accept();
    test::RecordingLink& session = world.session_with(1);
    session.settle(*session.got.front(), ports::Outcome::complete);
    REQUIRE(world.until([&] { return world.broker.accepted == 1; }));
    session.close();
    world.loop.run_until_idle();
    CHECK(session.settled.empty());
    CHECK_FALSE(session.closed);
    world.broker.cut();
    REQUIRE(world.until([&] { return session.closed; }));
    REQUIRE(session.settled.size() == 1);
    CHECK(session.settled.front().failed_with == Errc::connection_lost);
}

TEST_CASE(
    "group receiver: where the broker answers outcomes, they are answered in order, and a loss "
    "answers the rest before it") {
    World world{"Apache Qpid Broker-J"};
    for (int i = 0; i < 3; ++i) {
        world.broker.give("a", std::to_string(i), false);
    }
    world.accept();
    test::RecordingLink& session = world.session_with(3);
    session.settle(*session.got[0], ports::Outcome::complete);
    REQUIRE(world.until([&] { return session.settled.size() == 1; }));
    CHECK_FALSE(session.settled.front().failed_with);
    world.broker.answers = false;
    session.settle(*session.got[2], ports::Outcome::complete);
    session.settle(*session.got[1], ports::Outcome::abandon);
    REQUIRE(world.until([&] { return world.broker.accepted == 2; }));
    world.broker.cut();
    REQUIRE(world.until([&] { return session.lost.has_value(); }));
    REQUIRE(session.settled.size() == 3);
    for (const auto& each : session.settled) {
        if (each.delivery == session.got[2].get()) {
            CHECK(each.failed_with == Errc::connection_lost);
        }
    }
}

TEST_CASE(
    "group receiver: messages that the broker removes as it delivers them need no settlement") {
    World world;
    world.broker.give("a", "1", false);
    world.accept({.entity = "queue", .mode = ports::ReceiveMode::receive_and_delete, .wait = 24h});
    test::RecordingLink& session = world.session_with(1);
    CHECK(session.got.front()->settled_by_sender);
    REQUIRE(world.until([&] { return world.broker.accepted == 1; }));
    world.leave(session);
}

TEST_CASE("group receiver: R15: the endpoint's end cancels accepts that wait, also those that its "
          "answers ask for; sessions may outlive it") {
    World world;
    world.accept();
    test::RecordingLink& session = world.handle("a", "1", false);
    world.accept();
    world.accept({.entity = "other", .wait = 24h});
    REQUIRE(world.until([&] { return world.broker.attached == 2; }));
    groups::Endpoint& ending = *world.endpoint;
    bool again = true;
    world.on_refused = [&] {
        if (std::exchange(again, false)) {
            ending.accept({.entity = "queue", .wait = 24h}, [&](const auto& answer) {
                world.refused.push_back(answer.failure().code);
            });
        }
    };
    world.endpoint.reset();
    world.loop.run_until_idle();
    CHECK(world.refused == std::vector<Errc>(3, Errc::cancelled));
    session.close();
    world.loop.run_until_idle();
    CHECK(session.closed);
}
