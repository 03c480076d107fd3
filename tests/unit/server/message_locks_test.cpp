// SPDX-License-Identifier: MIT
#include "server/message_locks.hpp"

#include <doctest/doctest.h>

#include "managed.hpp"
#include "server/lock_token.hpp"

using namespace sessionq;
using namespace sessionq::test;
using amqp::Value;
using std::chrono::seconds;

namespace {

/// The broker's other connections have requests of their own: here, those of the same client.
struct Locked : Managed {
    explicit Locked(const std::string& body = "1") : Managed{"plain"} {
        put("plain", {{.body = body}});
        LinkLog& link = receive("r", "plain");
        link.receiver->add_credit(1);
        run();
        token = amqp::token_of(link.tags.at(0)).value();
        first = &link;
    }

    Reply ask_for(const char* operation, const char* status = "completed") {
        return ask(operation,
                   Value::map({{"lock-tokens", uuids({token})}, {"disposition-status", status}}));
    }
    LinkLog& receive_again(const char* name) {
        LinkLog& link = receive(name, "plain");
        link.receiver->add_credit(10);
        run();
        return link;
    }

    Value token{};
    LinkLog* first{nullptr};
};

} // namespace

TEST_CASE("MessageLocks: a message stays locked when its link is gone, and its token renews and "
          "settles it") {
    Locked front;
    front.first->receiver.reset();
    front.run();
    LinkLog& other = front.receive_again("other");
    CHECK(other.messages.empty());
    front.pass(seconds{20});
    CHECK(front.ask_for("renew-lock").status == 200);
    front.pass(seconds{20}); // past the first lock
    CHECK(other.messages.empty());
    CHECK(front.ask_for("update-disposition").status == 200);
    CHECK(front.counts("plain").active == 0);
    CHECK(front.ask_for("update-disposition").status == 410);
    CHECK(front.ask_for("renew-lock").status == 410);
}

TEST_CASE("MessageLocks: the lock of a link that is gone ends in its time, and is counted") {
    Locked front;
    front.first->receiver.reset();
    front.run();
    LinkLog& other = front.receive_again("other");
    front.pass(seconds{29});
    CHECK(other.messages.empty());
    front.pass(seconds{2});
    REQUIRE(other.messages.size() == 1);
    CHECK(amqp::decode_delivery(other.messages[0], front.reading()).value().facts.delivery_count ==
          1);
    CHECK(front.ask_for("update-disposition").status == 410); // another has it now
    CHECK(front.counts("plain").active == 1);
}

TEST_CASE("MessageLocks: a message abandoned by its token after the link is gone comes at once") {
    Locked front;
    front.first->receiver.reset();
    front.run();
    LinkLog& other = front.receive_again("other");
    CHECK(front.ask_for("update-disposition", "abandoned").status == 200);
    front.run();
    CHECK(other.messages.size() == 1);
}

TEST_CASE("MessageLocks: what is released by name goes back at once") {
    Locked front;
    front.first->deliveries.at(0).settle({.kind = amqp::OutcomeKind::released});
    front.first->receiver.reset();
    front.run();
    const LinkLog& other = front.receive_again("other");
    REQUIRE(other.messages.size() == 1);
    CHECK(amqp::decode_delivery(other.messages[0], front.reading()).value().facts.delivery_count ==
          0);
}

TEST_CASE("MessageLocks: a token is worth nothing at another entity") {
    Locked front;
    front.make_queue("else", {});
    LinkLog& reading = front.receive("else answers", "else/$management");
    reading.receiver->add_credit(10);
    LinkLog& requests = front.send("else requests", "else/$management");
    requests.sender->send(
        "1",
        Front::request("id", "else answers",
                       Value::map({{"operation", "com.microsoft:update-disposition"}}),
                       Value::map({{"lock-tokens", uuids({front.token})},
                                   {"disposition-status", "completed"}})),
        true);
    front.run();
    REQUIRE(reading.messages.size() == 1);
    CHECK(Front::read_reply(reading.messages[0]).status == 410);
    CHECK(front.counts("plain").active == 1);
}

TEST_CASE("MessageLocks: a connection that ends keeps the locks, another finds them, and they are "
          "forgotten with the last") {
    Locked front;
    const auto number = server::LockToken::of(*front.token.as<core::Uuid>()).holder;
    const auto queue = front.broker.find("plain").value();
    server::MessageLocks& locks = *front.context.message_locks;
    front.stream->hang_up();
    front.run();
    REQUIRE(front.ended == 1);
    REQUIRE(locks.find(*queue, number) != nullptr);
    CHECK(locks.find(*front.broker.find("orders").value(), number) == nullptr);
    CHECK(locks.find(*queue, number + 1) == nullptr);
    front.loop.advance(seconds{31});
    front.broker.advance(front.now());
    CHECK(locks.find(*queue, number) == nullptr);
    CHECK(queue->counts(front.now()).active == 1);
}

namespace {

/// A queue whose consumers hold nothing.
struct Unused {
    struct Target final : broker::ConsumerTarget {
        void on_accepted(broker::ConsumerPtr) noexcept override {}
        void on_refused(Failure) noexcept override {}
        void notify_work() noexcept override {}
        void on_lost(Failure) noexcept override {}
    };

    Unused() { REQUIRE(broker.create_queue("plain", {}, {}).ok()); }

    broker::ConsumerPtr add(std::uint64_t number) {
        auto consumer =
            queue().open(broker::ReceiveMode::peek_lock, 0, std::make_shared<Target>(), {});
        locks.add(number, queue(), consumer.value());
        return std::move(consumer).value();
    }
    broker::Queue& queue() { return *broker.find("plain").value(); }

    broker::Broker broker{};
    server::MessageLocks locks{};
};

} // namespace

TEST_CASE("MessageLocks: what is over takes no room for long") {
    Unused unused;
    for (std::uint64_t number = 0; number < 1000; ++number) {
        unused.queue().retire(*unused.add(number), {});
    }
    CHECK(unused.locks.size() <= 64);
}

TEST_CASE("MessageLocks: many consumers that are let go at once take no room either") {
    Unused unused;
    std::vector<broker::ConsumerPtr> consumers;
    for (std::uint64_t number = 0; number < 1000; ++number) {
        consumers.push_back(unused.add(number));
    }
    CHECK(unused.locks.size() == 1000);
    for (broker::ConsumerPtr& consumer : consumers) {
        unused.queue().retire(*consumer, {});
        consumer.reset();
        unused.locks.let_go();
    }
    CHECK(unused.locks.size() <= 64);
}
