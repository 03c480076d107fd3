// A receiver and a broker played beside it, on one loop whose time moves when the test says so.
// Their bytes go over loopback, and waits for them are bounded.
#include <doctest/doctest.h>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
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
    Broker(core::EventLoop& loop, asio::io_context& io)
        : host_{loop, io}, acceptor_{host_, [this](StreamPtr stream) {
                                         ConnectionOptions options;
                                         options.engine = {
                                             .is_server = true,
                                             .open = {.container = "broker",
                                                      .properties = encode(Value::map(
                                                          {{Value::symbol("product"),
                                                            "apache-activemq-artemis"}})),
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
        queue_.push_back(encode_message(message, {}));
        on_flow();
    }

    std::uint16_t port{0};
    int attached{0};
    int detached{0};
    int accepted{0};

private:
    void on_open(const Open&) override {}
    void on_session(SessionPtr made) override {
        session_ = std::move(made);
        session_->set_listener(this);
        session_->open();
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
            link.send(std::to_string(++last_tag_), queue_.front(), false);
            queue_.pop_front();
        }
        if (link.is_draining()) {
            link.drained();
        }
    }
    void on_disposition(DeliveryHandle delivery) override {
        accepted += delivery.remote_kind() == OutcomeKind::accepted ? 1 : 0;
        delivery.settle();
    }

    ConnectionHost host_;
    Acceptor acceptor_;
    std::unique_ptr<Connection> connection_{};
    SessionPtr session_{};
    std::vector<SenderLinkPtr> links_{};
    std::deque<std::string> queue_{};
    int last_tag_{0};
};

struct World {
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
    void accept() {
        endpoint.accept(
            {.entity = "queue", .wait = 24h}, [this](core::Result<ports::SessionLinkPtr> answer) {
                if (answer.ok()) {
                    sessions.push_back(
                        std::make_unique<test::RecordingLink>(std::move(answer).value()));
                    sessions.back()->credit(10);
                }
            });
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
    Broker broker{loop, io};
    groups::Endpoint endpoint{
        loop,
        io,
        {.url = groups::ConnectionUrl::parse("amqp://127.0.0.1:" + std::to_string(broker.port))
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
