// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <utility>

#include <asio/awaitable.hpp>

#include <sessionq/async.hpp>
#include <sessionq/sessionq.hpp>
#include <sessionq/testing/fake_message.hpp>
#include <sessionq/testing/fake_session.hpp>

#include "support/code_of.hpp"

using namespace sessionq;
using namespace std::chrono_literals;

namespace {

struct Setup {
    Setup() {
        broker.create_queue("orders");
        broker.create_queue("plain", {.requires_session = false});
        broker.create_topic("events");
        broker.create_subscription("events", "all");
        Sender{client, "orders"}.send(Message::of("placed").in_session("ada"));
    }

    LocalBroker broker{};
    Client client{Client::in_process(broker)};
};

/// Calls each function and returns how many of them did not say `invalid_state`.
template <typename... Calls>
int wrong(Calls... calls) {
    return ((test::code_of([&] { static_cast<void>(calls()); }) == Errc::invalid_state ? 0 : 1) +
            ...);
}

} // namespace

TEST_CASE("moved from: a client") {
    Setup t;
    const Client other = std::move(t.client);
    CHECK(wrong([&] { return t.client.options().receive_threads; },
                [&] { return t.client.metrics(); },
                [&] {
                    return Sender{t.client, "orders"};
                },
                [&] {
                    return Browser{t.client, "orders"};
                },
                [&] {
                    return SessionProcessor{t.client, "orders"};
                },
                [&] {
                    return Processor{t.client, "plain"};
                },
                [&] { return SessionReceiver::accept_next(t.client, "orders"); },
                [&] { return Receiver::open(t.client, "plain"); },
                [&] {
                    return RuleManager{t.client, "events/Subscriptions/all"};
                },
                [&] { return list_sessions(t.client, "orders"); },
                [&] { return purge(t.client, "orders"); },
                [&] { return redrive(t.client, "orders"); },
                [&] { return async_accept_next(t.client, "orders"); }) == 0);
}

TEST_CASE("moved from: functions that return failures return it") {
    Setup t;
    Sender sender{t.client, "orders"};
    const Sender other = std::move(sender);
    CHECK(sender.try_send(Message::of("1").in_session("ada")).error().code == Errc::invalid_state);
    const Client client = std::move(t.client);
    CHECK(Sender::try_make(t.client, "orders").error().code == Errc::invalid_state);
    CHECK(try_purge(t.client, "orders").error().code == Errc::invalid_state);
    const LocalBroker broker = std::move(t.broker);
    CHECK(t.broker.try_create_queue("more").error().code == Errc::invalid_state);
}

TEST_CASE("moved from: a credential") {
    NamedKeyCredential credential{"name", "key"};
    const NamedKeyCredential other = std::move(credential);
    const auto complaint = [](const auto& call) { return test::code_of(call); };
    CHECK(complaint([&] { credential.update("name", "key"); }) == Errc::invalid_state);
    CHECK(complaint([&] { credential.update_entity("orders", "name", "key"); }) ==
          Errc::invalid_state);
    CHECK(complaint([&] { static_cast<void>(Client::connect("sb://127.0.0.1:1", credential)); }) ==
          Errc::invalid_state);
}

TEST_CASE("moved from: processors") {
    Setup t;
    SessionProcessor orders{t.client, "orders"};
    const SessionProcessor other = std::move(orders);
    const auto handler = [](MessageContext&) {};
    CHECK(wrong([&] { return orders.on_message(handler), 0; },
                [&] { return orders.on_messages([](std::span<MessageContext>) {}), 0; },
                [&] { return orders.on_session_open({}), 0; },
                [&] { return orders.on_session_close({}), 0; },
                [&] { return orders.on_failure({}), 0; }, [&] { return orders.on_error({}), 0; },
                [&] { return orders.on_health_changed({}), 0; }, [&] { return orders.start(), 0; },
                [&] { return orders.pause(), 0; }, [&] { return orders.resume(), 0; },
                [&] { return orders.update_limits({}), 0; }, [&] { return orders.describe(); },
                [&] { return orders.counters(); }, [&] { return orders.metrics(); },
                [&] { return orders.options().prefetch; }) == 0);
    CHECK(orders.stop().complete); // there is nothing to stop

    Processor plain{t.client, "plain"};
    const Processor another = std::move(plain);
    CHECK(wrong([&] { return plain.on_message(handler), 0; }, [&] { return plain.start(), 0; },
                [&] { return plain.update_limits({.prefetch = 1}), 0; },
                [&] { return plain.update_limits({.max_concurrent_calls = 1}), 0; },
                [&] { return plain.describe(); }, [&] { return plain.counters(); },
                [&] { return plain.metrics(); }) == 0);
    CHECK(plain.stop(1s).complete);
}

TEST_CASE("moved from: receivers and their messages") {
    Setup t;
    auto receiver = SessionReceiver::accept(t.client, "orders", "ada");
    auto message = receiver.receive_one();
    REQUIRE(message);
    LockedMessage moved = std::move(*message);
    CHECK(wrong([&] { return message->message().sequence_number(); },
                [&] { return message->text(); }, [&] { return message->sequence_number(); },
                [&] { return message->settled(); }, [&] { return message->lock_expires(); },
                [&] { return message->stop_token(); }, [&] { return message->renew_lock(); },
                [&] { return message->complete(), 0; }, [&] { return message->abandon(), 0; },
                [&] { return message->release(), 0; }, [&] { return message->defer(), 0; },
                [&] { return message->dead_letter(), 0; },
                [&] { return async_complete(*message); }) == 0);
    moved.complete();

    const SessionReceiver other = std::move(receiver);
    CHECK(wrong([&] { return receiver.session_id().size(); },
                [&] { return receiver.entity().size(); }, [&] { return receiver.lock_expires(); },
                [&] { return receiver.stop_token(); }, [&] { return receiver.loss(); },
                [&] { return receiver.receive(1); }, [&] { return receiver.receive_one(); },
                [&] { return receiver.receive_deferred({1}); }, [&] { return receiver.state(); },
                [&] { return receiver.set_state("x"), 0; }, [&] { return receiver.renew_lock(); },
                [&] { return receiver.close(), 0; },
                [&] { return async_receive_one(receiver); }) == 0);

    Receiver plain = Receiver::open(t.client, "plain");
    const Receiver another = std::move(plain);
    CHECK(wrong([&] { return plain.entity().size(); }, [&] { return plain.stop_token(); },
                [&] { return plain.loss(); }, [&] { return plain.receive(1); },
                [&] { return plain.receive_one(); }, [&] { return plain.receive_deferred({1}); },
                [&] { return plain.close(), 0; }) == 0);
}

TEST_CASE("moved from: senders, browsers and rules") {
    Setup t;
    Sender sender{t.client, "orders"};
    const Sender other = std::move(sender);
    CHECK(wrong([&] { return sender.entity().size(); },
                [&] { return sender.send(Message::of("x").in_session("ada")), 0; },
                [&] { return sender.create_batch(); },
                [&] { return sender.schedule(Message::of("x").in_session("ada"), WallTime{}); },
                [&] { return sender.cancel_scheduled({1}), 0; },
                [&] { return async_send(sender, Message::of("x").in_session("ada")); }) == 0);
    Browser browser{t.client, "orders"};
    const Browser another = std::move(browser);
    CHECK(wrong([&] { return browser.peek(1); }, [&] { return browser.next(0s); },
                [&] { return browser.begin() == browser.end(); }) == 0);
    RuleManager rules{t.client, "events/Subscriptions/all"};
    const RuleManager third = std::move(rules);
    CHECK(wrong([&] { return rules.subscription().size(); }, [&] { return rules.list(); },
                [&] { return rules.add({.name = "x"}), 0; },
                [&] { return rules.remove("x"), 0; }) == 0);
}

TEST_CASE("moved from: a broker, and the fakes of tests") {
    Setup t;
    const LocalBroker other = std::move(t.broker);
    CHECK(wrong([&] { return t.broker.create_queue("x"), 0; },
                [&] { return t.broker.delete_queue("x"), 0; },
                [&] { return t.broker.queue_exists("x"); }, [&] { return t.broker.queue_names(); },
                [&] { return t.broker.counts("orders"); },
                [&] { return t.broker.rules("events", "all"); },
                [&] { return Client::in_process(t.broker); }) == 0);
    testing::FakeSession session;
    testing::FakeMessage message{session, Message{.body = "x"}};
    const testing::FakeMessage moved = std::move(message);
    CHECK(wrong([&] { return message.context().attempt(); },
                [&] { return message.message().text(); }, [&] { return message.settlement(); },
                [&] { return message.run([](MessageContext&) {}), 0; }) == 0);
    const testing::FakeSession gone = std::move(session);
    CHECK(wrong([&] { return session.context().session_id().size(); },
                [&] { return session.state(); }, [&] { return session.released(); },
                [&] { return session.lose_lock(), 0; },
                [&] {
                    return testing::FakeMessage{session, Message{.body = "x"}};
                }) == 0);
}

TEST_CASE("moved from: a received message, also one made by default") {
    ReceivedMessage message;
    CHECK(message.empty());
    CHECK(wrong([&] { return message.text(); }, [&] { return message.body(); },
                [&] { return message.value(); }, [&] { return message.sequence(); },
                [&] { return message.session_id(); }, [&] { return message.message_id(); },
                [&] { return message.content().body; }, [&] { return message.properties(); },
                [&] { return message.annotations(); }, [&] { return message.annotation("x"); },
                [&] { return message.trace(); }) == 0);
    CHECK_FALSE(DeadLetterFilter{.session_id = "ada"}.matches(message, WallTime{}));
    ReceivedMessage full{std::make_shared<const DecodedContent>(Message::of("x").in_session("ada")),
                         {}};
    const ReceivedMessage moved = std::move(full);
    CHECK(full.empty());
    CHECK(wrong([&] { return full.text(); }) == 0);
}
