// SPDX-License-Identifier: MIT
// A request channel on a client's engine, and the server's engine in the test's hands.
#include "servicebus/request_channel.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "amqp/codec/encoder.hpp"
#include "amqp/codec/message_sections.hpp"
#include "support/manual_loop.hpp"
#include "unit/amqp/wire.hpp"

using namespace sessionq;
using namespace sessionq::detail::servicebus;
using namespace std::chrono_literals;
using amqp::Value;

namespace {

struct Bench {
    Bench() {
        wire.run();
        channel.emplace(loop, "node", [this](RequestChannel::EngineHandler handler) {
            if (is_connected) {
                handler(&wire.client);
            } else {
                waiting = std::move(handler);
            }
        });
    }
    void ask(ports::RequestId id, Deadline deadline = {}) {
        channel->request(id, {.operation = "look", .body = "in"}, deadline,
                         [this, id](const core::Result<Response>& answer) {
                             told += std::to_string(id) + ":";
                             told += answer.ok() ? std::to_string(answer.value().status)
                                                 : std::string{to_string(answer.failure().code)};
                             told += !answer.ok() && answer.failure().outcome_unknown ? "?;" : ";";
                         });
        run();
    }
    /// The node's two links, attached and with credit.
    void open() {
        far = wire.server_log.sessions.back().get();
        for (const auto& link : far->links) {
            if (link->receiver) {
                link->receiver->open(link->receiver->remote());
                link->receiver->add_credit(10);
            } else {
                link->sender->open(link->sender->remote());
            }
        }
        run();
    }
    [[nodiscard]] test::LinkLog& requests() const {
        return *far->links[far->links[0]->receiver ? 0 : 1];
    }
    [[nodiscard]] test::LinkLog& answers() const {
        return *far->links[far->links[0]->receiver ? 1 : 0];
    }
    [[nodiscard]] std::size_t arrived() const { return requests().messages.size(); }
    [[nodiscard]] std::optional<Value> property(std::size_t request, std::string_view key) const {
        const auto sections = amqp::MessageSections::find(requests().messages.at(request));
        const auto section = amqp::decode(sections->application_properties);
        const Value* found = section->described()->value.find(key);
        return found != nullptr ? std::optional{*found} : std::nullopt;
    }
    void answer(const std::string& id, std::int32_t status, const Value& body = {},
                const Value& words = {}) {
        std::string encoded;
        amqp::Encoder encoder{encoded};
        encoder.write(
            Value::described(amqp::section::properties,
                             amqp::List{Value{}, Value{}, Value{}, Value{}, Value{}, Value{id}}));
        encoder.write(
            Value::described(amqp::section::application_properties,
                             Value::map({{"statusCode", status}, {"statusDescription", words}})));
        encoder.write(Value::described(amqp::section::value, body));
        answers().sender->send("t", encoded, true);
        run();
    }
    void run() {
        wire.run();
        loop.run_until_idle();
        wire.run();
    }
    std::string take() { return std::exchange(told, {}); }

    test::ManualLoop loop{};
    test::Wire wire{};
    bool is_connected{true};
    RequestChannel::EngineHandler waiting{};
    test::SessionLog* far{nullptr};
    std::string told{};
    std::optional<RequestChannel> channel{};
};

/// Where a request is when it ends.
enum class Place : std::uint8_t { preparing, queued, sent };

/// Brings request 1 there.
void bring(Bench& t, Place place, Deadline deadline = {}) {
    t.is_connected = place != Place::preparing;
    t.ask(1, deadline);
    if (place == Place::sent) {
        t.open();
        REQUIRE(t.arrived() == 1);
    }
}

} // namespace

TEST_CASE("request channel: requests are answered by their id, in any order, once") {
    Bench t;
    t.ask(1);
    t.ask(2);
    t.open();
    REQUIRE(t.arrived() == 2);
    CHECK(t.property(0, "operation") == Value{"look"});
    CHECK_FALSE(t.property(0, "com.microsoft:server-timeout"));
    t.answer("2", 204);
    t.answer("1", 200);
    t.answer("1", 500);
    t.answer("no number", 200);
    CHECK(t.take() == "2:204;1:200;");
    t.ask(3); // the links stay
    CHECK(t.arrived() == 3);
}

TEST_CASE("request channel: an answer that takes many times its bytes is refused") {
    Bench t;
    t.ask(1);
    t.ask(2);
    t.ask(3);
    t.open();
    t.answer("1", 200, amqp::List(200'000));
    t.answer("2", 200, amqp::List(250'000));
    t.answer("3", 200, {}, amqp::List(200'000)); // what is no text is not read
    CHECK(t.take() == "1:200;2:500;3:200;");
}

TEST_CASE("R20: request channel: the broker is told what is left until the deadline") {
    Bench t;
    t.ask(1, Deadline::after(5s, t.loop.now()));
    t.loop.advance(2s);
    t.open();
    REQUIRE(t.arrived() == 1);
    CHECK(t.property(0, "com.microsoft:server-timeout") == Value{std::uint32_t{3000}});
}

TEST_CASE(
    "R20: request channel: what ends before it was sent is never sent; what was sent says so") {
    for (const Place place : {Place::preparing, Place::queued, Place::sent}) {
        CAPTURE(static_cast<int>(place));
        const std::string unknown = place == Place::sent ? "?;" : ";";
        {
            Bench t;
            bring(t, place, Deadline::after(5s, t.loop.now()));
            t.loop.advance(5s);
            CHECK(t.take() == "1:timeout" + unknown);
            if (place == Place::preparing) {
                t.waiting(&t.wire.client);
                t.run();
                CHECK(t.wire.server_log.sessions.empty());
            } else if (place == Place::queued) {
                t.open();
                CHECK(t.arrived() == 0);
            }
        }
        {
            Bench t;
            bring(t, place);
            t.channel->give_up(1);
            CHECK(t.told.empty()); // by a later turn
            t.run();
            CHECK(t.take() == "1:cancelled" + unknown);
            t.channel->give_up(1);
            t.run();
            if (place == Place::queued) {
                t.open();
                CHECK(t.arrived() == 0);
            } else if (place == Place::sent) {
                t.answer("1", 200);
            }
            CHECK(t.take().empty());
        }
        {
            Bench t;
            bring(t, place);
            t.channel.reset();
            CHECK(t.take() == "1:cancelled" + unknown);
            t.run();
            CHECK(t.take().empty());
        }
    }
}

TEST_CASE("R15: request channel: the loss of its links fails what needs them, and the next request "
          "attaches again") {
    for (const Place place : {Place::queued, Place::sent}) {
        CAPTURE(static_cast<int>(place));
        Bench t;
        bring(t, place);
        t.wire.server_log.sessions.back()->session->end({.name = "amqp:internal-error"});
        t.run();
        CHECK(t.take() == std::string{"1:connection_lost"} + (place == Place::sent ? "?;" : ";"));
        t.ask(2);
        t.open();
        CHECK(t.arrived() == 1);
        t.answer("2", 200);
        CHECK(t.take() == "2:200;");
    }
}

TEST_CASE(
    "R20: request channel: a failure to connect is the answer, and a deadline that has passed") {
    Bench t;
    t.is_connected = false;
    t.ask(1);
    t.waiting(Failure{.code = Errc::connection_refused});
    CHECK(t.told.empty());
    t.run();
    CHECK(t.take() == "1:connection_refused;");
    t.is_connected = true;
    t.ask(2, Deadline::at(t.loop.now()));
    CHECK(t.take() == "2:timeout;");
    CHECK(t.wire.server_log.sessions.empty());
}
