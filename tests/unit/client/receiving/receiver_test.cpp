// SPDX-License-Identifier: MIT
#include <sessionq/receiver.hpp>

#include <doctest/doctest.h>

#include <thread>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>

#include <sessionq/async.hpp>
#include <sessionq/browser.hpp>
#include <sessionq/local_broker.hpp>

#include "support/code_of.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using test::code_of;

namespace {

struct ReceiverFixture {
    explicit ReceiverFixture(QueueOptions options = {.requires_session = false}) {
        broker.create_queue("plain", options);
        broker.create_queue("orders");
    }

    void send(std::initializer_list<std::string_view> bodies) {
        Sender sender{client, "plain"};
        for (const std::string_view body : bodies) {
            sender.send(Message{.body = std::string{body}});
        }
    }
    Receiver open(ReceiverOptions options = {}) { return Receiver::open(client, "plain", options); }

    LocalBroker broker;
    Client client{Client::in_process(broker)};
};

std::string text_of(const std::vector<LockedMessage>& messages) {
    std::string all;
    for (const LockedMessage& message : messages) {
        all.append(all.empty() ? "" : " ").append(message.text());
    }
    return all;
}

} // namespace

TEST_CASE("receiver: receives and settles messages of an entity without sessions") {
    ReceiverFixture f;
    f.send({"1", "2", "3", "4"});
    Receiver receiver = f.open();
    CHECK(receiver.entity() == "plain");
    auto messages = receiver.receive(10, 0s);
    REQUIRE(text_of(messages) == "1 2 3 4");
    CHECK_FALSE(messages[0].lock_expires().is_never());
    messages[0].complete();
    messages[1].abandon();
    messages[2].dead_letter("why");
    messages[3].release();
    CHECK(code_of([&] { messages[0].complete(); }) == Errc::already_settled);
    auto again = receiver.receive(10, 0s);
    REQUIRE(text_of(again) == "2 4");
    CHECK(again[0].message().delivery_count() == 1);
    CHECK(again[1].message().delivery_count() == 0);
    again.clear();
    receiver.close();
    CHECK(f.broker.counts("plain").active == 2);
    CHECK(f.broker.counts("plain").dead_lettered == 1);
}

TEST_CASE("receiver: dead letters of an entity with sessions, by sub-queue and by text") {
    ReceiverFixture f;
    Sender{f.client, "orders"}.send_all(
        {Message::of("1").in_session("a"), Message::of("2").in_session("b")});
    for (const char* session : {"a", "b"}) {
        SessionReceiver::accept(f.client, "orders", session).receive_one()->dead_letter("why");
    }
    Receiver dead = Receiver::open(f.client, "orders", {.sub_queue = SubQueue::dead_letter});
    CHECK(dead.entity() == "orders/$DeadLetterQueue");
    auto first = dead.receive_one();
    REQUIRE(first);
    REQUIRE(first->message().facts().dead_letter);
    CHECK(first->message().facts().dead_letter->reason == "why");
    first->complete();
    Receiver by_text = Receiver::open(f.client, "orders/$DeadLetterQueue");
    auto second = by_text.receive_one();
    REQUIRE(second);
    second->complete();
    Browser left{f.client, "orders", {.sub_queue = SubQueue::dead_letter}};
    CHECK(left.peek(10).empty());
}

TEST_CASE("receiver: an entity of the wrong kind says what to use") {
    ReceiverFixture f;
    const auto detail_of = [](auto call) {
        try {
            call();
        } catch (const Error& error) {
            return std::string{error.what()};
        }
        return std::string{};
    };
    CHECK(detail_of([&] {
              static_cast<void>(Receiver::open(f.client, "orders"));
          }).find("'orders' requires sessions; use a SessionReceiver") != std::string::npos);
    CHECK(detail_of([&] {
              static_cast<void>(SessionReceiver::accept_next(f.client, "plain"));
          }).find("'plain' has no sessions; use a Receiver") != std::string::npos);
    CHECK(code_of([&] { static_cast<void>(Receiver::open(f.client, "none")); }) ==
          Errc::entity_not_found);
}

TEST_CASE("receiver: bad options are named") {
    ReceiverFixture f;
    CHECK(code_of([&] { static_cast<void>(f.open({.max_lock_renewal = -1s})); }) ==
          Errc::invalid_option);
    CHECK(code_of([&] { static_cast<void>(f.open({.prefetch = 10'001})); }) ==
          Errc::invalid_option);
    CHECK(code_of([&] {
              static_cast<void>(f.open({.sub_queue = SubQueue::transfer_dead_letter}));
          }) == Errc::not_supported);
    Receiver receiver = f.open();
    CHECK(code_of([&] { static_cast<void>(receiver.receive(0)); }) == Errc::invalid_argument);
}

TEST_CASE("receiver: deferred messages are received by number") {
    ReceiverFixture f;
    f.send({"1", "2"});
    Receiver receiver = f.open();
    auto first = receiver.receive_one();
    REQUIRE(first);
    const std::int64_t number = first->sequence_number();
    first->defer();
    auto deferred = receiver.receive_deferred({number});
    REQUIRE(text_of(deferred) == "1");
    CHECK_FALSE(deferred[0].lock_expires().is_never());
    deferred[0].complete();
    CHECK(receiver.receive_deferred({}).empty());
    CHECK(code_of([&] { static_cast<void>(receiver.receive_deferred({number})); }) ==
          Errc::message_not_found);
}

TEST_CASE("receiver: close returns what it has and what it prefetched, uncounted") {
    ReceiverFixture f;
    f.send({"1", "2", "3"});
    Receiver receiver = f.open({.prefetch = 10});
    auto first = receiver.receive_one();
    REQUIRE(first);
    receiver.close();
    REQUIRE(receiver.loss());
    CHECK(receiver.loss()->code == Errc::cancelled);
    CHECK(code_of([&] { first->complete(); }) == Errc::lock_lost);
    CHECK(code_of([&] { static_cast<void>(receiver.receive(1)); }) == Errc::cancelled);
    Receiver next = f.open();
    auto all = next.receive(10, 0s);
    REQUIRE(text_of(all) == "1 2 3");
    CHECK(all[0].message().delivery_count() == 0);
}

TEST_CASE("receiver: an assignment gives back what the receiver had, one to itself does not") {
    ReceiverFixture f;
    f.send({"1", "2"});
    Receiver receiver = f.open();
    auto first = receiver.receive_one();
    REQUIRE(first);
    Receiver& itself = receiver;
    receiver = std::move(itself);
    first->complete();
    auto second = receiver.receive_one();
    REQUIRE(second);
    receiver = f.open();
    CHECK(code_of([&] { second->complete(); }) == Errc::lock_lost);
    auto again = receiver.receive(10);
    CHECK(text_of(again) == "2");
}

TEST_CASE("receiver: a message may outlive it, and is undecided then") {
    ReceiverFixture f;
    f.send({"1"});
    auto message = f.open().receive_one(); // the receiver ends here
    REQUIRE(message);
    for (int i = 0; i < 2; ++i) {
        CHECK(code_of([&] { message->complete(); }) == Errc::lock_lost);
        CHECK_FALSE(message->settled());
    }
}

TEST_CASE("receiver: receive and delete needs no settling") {
    ReceiverFixture f;
    f.send({"1"});
    Receiver receiver = f.open({.receive_and_delete = true});
    auto message = receiver.receive_one();
    REQUIRE(message);
    CHECK(message->settled());
    CHECK(message->lock_expires().is_never());
    CHECK(code_of([&] { static_cast<void>(message->renew_lock()); }) == Errc::already_settled);
    CHECK(f.broker.counts("plain").active == 0);
}

TEST_CASE("receiver: a lock is renewed by itself, and by hand it is prolonged") {
    ReceiverFixture f{{.requires_session = false, .lock_duration = 1s}};
    f.send({"1", "2"});
    Receiver receiver = f.open();
    auto kept = receiver.receive_one();
    REQUIRE(kept);
    Receiver by_hand = f.open({.auto_renew = false});
    auto lost = by_hand.receive_one();
    REQUIRE(lost);
    const Deadline before = lost->lock_expires();
    CHECK(lost->renew_lock() > before);
    CHECK(lost->lock_expires() > before);
    auto again = receiver.receive_one(5s); // comes when the other lock has ended
    REQUIRE(again);
    CHECK(again->text() == "2");
    CHECK(again->message().delivery_count() == 1);
    CHECK(code_of([&] { lost->complete(); }) == Errc::lock_lost);
    kept->complete();
    again->complete();
}

TEST_CASE("receiver: the end of its entity is told as its loss") {
    ReceiverFixture f;
    Receiver receiver = f.open();
    f.broker.delete_queue("plain");
    CHECK(code_of([&] { static_cast<void>(receiver.receive(1)); }) == Errc::entity_not_found);
    REQUIRE(receiver.loss());
    CHECK(receiver.stop_token().stop_possible());
}

TEST_CASE("receiver: awaitable twins") {
    ReceiverFixture f;
    f.send({"1", "2"});
    asio::io_context io;
    std::string text;
    const auto work = [](Client client, std::string& seen) -> asio::awaitable<void> {
        Receiver receiver = co_await async_open_receiver(client, "plain");
        auto first = co_await async_receive_one(receiver, 1s);
        seen = first->text();
        static_cast<void>(co_await async_renew_lock(*first));
        std::vector<std::int64_t> numbers(1, first->sequence_number());
        co_await async_defer(*first);
        auto deferred = co_await async_receive_deferred(receiver, std::move(numbers));
        co_await async_complete(deferred.at(0));
        const auto rest = co_await async_receive(receiver, 10, 0s);
        for (const LockedMessage& message : rest) {
            seen += message.text();
            co_await async_complete(message);
        }
        co_await async_close(receiver);
    };
    std::exception_ptr failed;
    asio::co_spawn(io, work(f.client, text), [&](std::exception_ptr thrown) { failed = thrown; });
    io.run();
    CHECK(failed == nullptr);
    CHECK(text == "12");
    CHECK(f.broker.counts("plain").active == 0);
}
