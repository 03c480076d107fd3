// SPDX-License-Identifier: MIT
#include "server/held_requests.hpp"

#include <doctest/doctest.h>

#include "amqp/peek_wait.hpp"
#include "managed.hpp"

using namespace sessionq;
using namespace sessionq::test;
using namespace std::chrono_literals;
using amqp::Value;

namespace {

struct Held : Managed {
    explicit Held(server::Limits limits = {}) : Managed{"orders", limits} {}

    void peek(const char* id, std::uint32_t milliseconds, Value of = {}, std::int32_t count = 10) {
        requests->sender->send("1",
                               request(id, "answers",
                                       Value::map({{"operation", "com.microsoft:peek-message"},
                                                   {std::string{amqp::peek_wait}, milliseconds}}),
                                       Value::map({{"from-sequence-number", std::int64_t{0}},
                                                   {"message-count", count},
                                                   {"session-id", std::move(of)}})),
                               true);
        run();
    }
    /// The answers since the last call: the request and the status of each.
    std::string take() {
        std::string all;
        for (; taken < answers->messages.size(); ++taken) {
            const Reply reply = read_reply(answers->messages[taken]);
            all += std::string{reply.correlation.text().value_or("?")} + ":" +
                   std::to_string(reply.status) + " ";
        }
        return all;
    }
    [[nodiscard]] std::size_t waiting() { return counts("orders").waiting_browsers; }

    std::size_t taken{0};
};

} // namespace

TEST_CASE("DG8: held requests: the open says that a peek can wait") {
    Held front;
    REQUIRE(front.seen.peer);
    const auto properties = amqp::decode(front.seen.peer->properties);
    REQUIRE(properties);
    const Value* offered = properties->find(amqp::peek_wait);
    REQUIRE(offered != nullptr);
    CHECK(*offered == Value{true});
}

TEST_CASE("DG8: held requests: a peek that may wait is answered once there is a message of its "
          "session; others are answered meanwhile") {
    Held front;
    front.peek("any", 10'000);
    front.peek("b", 10'000, "b");
    CHECK(front.waiting() == 2);
    CHECK(front
              .ask("peek-message", Value::map({{"from-sequence-number", std::int64_t{0}},
                                               {"message-count", std::int32_t{10}}}))
              .status == 204);
    CHECK(front.take() == "id:204 ");
    front.put("orders", {message("a", "1")});
    CHECK(front.bodies(Front::read_reply(front.answers->messages.back())) ==
          std::vector<std::string>{"1"});
    CHECK(front.take() == "any:200 ");
    CHECK(front.waiting() == 1);
    front.put("orders", {message("b", "2")});
    CHECK(front.take() == "b:200 ");
    front.peek("now", 10'000);
    CHECK(front.take() == "now:200 ");
}

TEST_CASE("held requests: without a message the answer comes when the time is over, or the limit") {
    Held front{{.held_time = 20s}};
    front.peek("short", 1'000);
    front.peek("long", 0xffffffff);
    front.pass(999ms);
    CHECK(front.take().empty());
    front.pass(1ms);
    CHECK(front.take() == "short:204 ");
    front.pass(18s);
    CHECK(front.take().empty());
    front.pass(1s);
    CHECK(front.take() == "long:204 ");
    CHECK(front.waiting() == 0);
    CHECK(front.loop.timers().size() <= 2); // of the connection
}

TEST_CASE("held requests: a message that goes before the look does not begin the time anew") {
    Held front;
    front.peek("id", 1'000);
    front.pass(500ms);
    Message later = message("a", "1");
    later.scheduled_enqueue_time = front.loop.wall_now() + 1h;
    const auto queue = front.broker.find("orders").value();
    const auto sent = queue->send(std::vector<Message>{std::move(later)}, front.now()).value();
    REQUIRE(queue->cancel_scheduled(sent, front.now()).ok());
    front.run();
    CHECK(front.waiting() == 1);
    CHECK(front.take().empty());
    front.pass(500ms);
    CHECK(front.take() == "id:204 ");
}

TEST_CASE("held requests: those beyond a connection's limits are answered at once") {
    Held front{{.held_requests = 2, .held_request_bytes = 400}};
    front.peek("1", 10'000);
    front.peek("2", 10'000);
    CHECK(front.take().empty());
    front.peek("3", 10'000);
    CHECK(front.take() == "3:204 ");
    CHECK(front.waiting() == 2);
    front.pass(10s);
    CHECK(front.take() == "1:204 2:204 ");
    const std::string large(300, 'x');
    front.peek(large.c_str(), 10'000);
    CHECK(front.take() == large + ":204 ");
    front.put("orders", {message("a", "1")});
    front.peek("none", 10'000, {}, 0); // no message would end its wait
    CHECK(front.take() == "none:204 ");
}

TEST_CASE("held requests: they end with their link, with the connection, and with the entity") {
    Held front;
    front.peek("1", 10'000);
    front.peek("2", 10'000);
    CHECK(front.waiting() == 2);
    SUBCASE("link") {
        front.requests->sender.reset();
        front.run();
        CHECK(front.waiting() == 0);
        front.put("orders", {message("a", "1")});
        front.pass(10s);
        CHECK(front.take().empty());
    }
    SUBCASE("connection") {
        front.stream->hang_up();
        front.loop.run_until_idle();
        CHECK(front.ended == 1);
        CHECK(front.waiting() == 0);
    }
    SUBCASE("connection, when they have been told") {
        REQUIRE(front.broker.find("orders")
                    .value()
                    ->send(std::vector<Message>{message("a", "1")}, front.now())
                    .ok());
        front.connection.reset();
        front.loop.run_until_idle();
        CHECK(front.waiting() == 0);
    }
    SUBCASE("entity") {
        REQUIRE(front.broker.delete_entity("orders", front.now()).ok());
        front.run();
        CHECK(front.take() == "1:404 2:404 ");
    }
}

TEST_CASE("held requests: a message that ends the waits of many makes no more answers than the "
          "peer reads") {
    Held front{{.unread_answers = 100'000}};
    for (int i = 0; i < 50; ++i) {
        front.peek("id", 60'000);
    }
    REQUIRE(front.waiting() == 50);
    front.stream->clog();
    REQUIRE(front.broker.find("orders")
                .value()
                ->send(std::vector<Message>{Message::of(std::string(60'000, 'x')).in_session("a")},
                       front.now())
                .ok());
    front.loop.run_until_idle();
    CHECK(front.waiting() == 0);
    CHECK(front.stream->written.size() + front.context.memory.all() < 600'000);
    front.stream->unclog();
    front.run();
    CHECK(front.answers->messages.size() == 50);
}
