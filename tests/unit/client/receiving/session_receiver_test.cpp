// SPDX-License-Identifier: MIT
#include <sessionq/session_receiver.hpp>

#include <doctest/doctest.h>

#include <future>
#include <thread>

#include <sessionq/browser.hpp>
#include <sessionq/client.hpp>
#include <sessionq/detail/calls.hpp>
#include <sessionq/local_broker.hpp>
#include <sessionq/receiver.hpp>
#include <sessionq/sender.hpp>

#include "support/code_of.hpp"

#include "client/calls/blocking.hpp"
#include "client/receiving/session_receiver_operations.hpp"
#include "core/clock.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using test::code_of;

namespace {

struct SessionReceiverFixture {
    explicit SessionReceiverFixture(QueueOptions options = {}) {
        broker.create_queue("orders", options);
    }

    void send(std::string_view session, std::string_view body) {
        Sender{client, "orders"}.send(Message::of(body).in_session(session));
    }
    SessionReceiver accept(const std::string& session, SessionReceiverOptions options = {}) {
        return SessionReceiver::accept(client, "orders", session, options);
    }

    LocalBroker broker;
    Client client{Client::in_process(broker)};
};

std::vector<std::string> texts(const std::vector<SessionMessage>& messages) {
    std::vector<std::string> all;
    for (const SessionMessage& message : messages) {
        all.emplace_back(message.text());
    }
    return all;
}

} // namespace

TEST_CASE("session receiver: pulls a session's messages in order and completes them") {
    SessionReceiverFixture f;
    f.send("a", "1");
    f.send("b", "other");
    f.send("a", "2");
    SessionReceiver receiver = f.accept("a");
    CHECK(receiver.session_id() == "a");
    CHECK(receiver.entity() == "orders");
    CHECK_FALSE(receiver.loss());
    auto messages = receiver.receive(10);
    while (messages.size() < 2) {
        for (auto& more : receiver.receive(10)) {
            messages.push_back(std::move(more));
        }
    }
    CHECK(texts(messages) == std::vector<std::string>{"1", "2"});
    for (SessionMessage& message : messages) {
        CHECK_FALSE(message.settled());
        message.complete();
        CHECK(message.settled());
    }
    CHECK(f.broker.counts("orders").active == 1);
}

TEST_CASE("session receiver: a wait of zero answers with what the broker has") {
    SessionReceiverFixture f;
    SessionReceiver receiver = f.accept("a");
    CHECK(receiver.receive(5, 0s).empty());
    CHECK_FALSE(receiver.receive_one(0s));
    for (const char* text : {"1", "2", "3"}) {
        f.send("a", text);
    }
    CHECK(texts(receiver.receive(2, 0s)) == std::vector<std::string>{"1", "2"});
    CHECK(texts(receiver.receive(5, 0s)) == std::vector<std::string>{"3"});
}

TEST_CASE("session receiver: waits for a message that comes later") {
    SessionReceiverFixture f;
    SessionReceiver receiver = f.accept("a");
    auto received = std::async(std::launch::async, [&] { return receiver.receive_one(); });
    f.send("a", "late");
    const auto message = received.get();
    REQUIRE(message);
    CHECK(message->text() == "late");
}

TEST_CASE("session receiver: nothing in time is an answer, and what comes after it is kept") {
    SessionReceiverFixture f;
    SessionReceiver receiver = f.accept("a");
    CHECK(receiver.receive(3, 1ms).empty());
    CHECK(receiver.receive(3, 1ns).empty()); // over before it starts
    const CallOptions short_lived{.timeout = 1ms};
    CHECK(receiver.receive(3, Duration::max(), short_lived).empty());
    f.send("a", "1");
    CHECK(texts(receiver.receive(3)) == std::vector<std::string>{"1"});
}

TEST_CASE("session receiver: a message may outlive it, and is undecided then") {
    SessionReceiverFixture f;
    f.send("a", "1");
    auto message = f.accept("a").receive_one(); // the receiver ends here
    REQUIRE(message);
    for (int i = 0; i < 2; ++i) {
        CHECK(code_of([&] { message->complete(); }) == Errc::lock_lost);
        CHECK(code_of([&] { message->renew_lock(); }) == Errc::lock_lost);
        CHECK_FALSE(message->settled());
    }
}

TEST_CASE("R8: a message is settled once") {
    SessionReceiverFixture f;
    f.send("a", "1");
    SessionReceiver receiver = f.accept("a");
    auto message = receiver.receive_one();
    REQUIRE(message);
    message->complete();
    CHECK(code_of([&] { message->complete(); }) == Errc::already_settled);
    CHECK(code_of([&] { message->abandon(); }) == Errc::already_settled);
}

TEST_CASE("R8: a settlement that did not start leaves the message undecided") {
    SessionReceiverFixture f;
    for (const char* text : {"1", "2", "3", "4"}) {
        f.send("a", text);
    }
    SessionReceiver receiver = f.accept("a");
    std::stop_source stopped;
    stopped.request_stop();
    const std::vector<std::pair<CallOptions, Errc>> vain = {
        {{.timeout = 0s}, Errc::timeout},
        {{.timeout = -1s}, Errc::timeout},
        {{.stop = stopped.get_token()}, Errc::cancelled},
        {{.context = OperationContext{Deadline::in(-1s)}}, Errc::timeout},
    };
    for (const auto& [call, code] : vain) {
        auto message = receiver.receive_one();
        REQUIRE(message);
        CHECK(code_of([&] { message->complete(call); }) == code);
        CHECK_FALSE(message->settled());
        CHECK(code_of([&] { message->abandon({}, call); }) == code);
        CHECK(code_of([&] { message->release(call); }) == code);
        CHECK(code_of([&] { message->defer({}, call); }) == code);
        CHECK(code_of([&] { message->dead_letter("bad", {}, {}, call); }) == code);
        CHECK_FALSE(message->settled());
        message->complete();
        CHECK(message->settled());
        CHECK(code_of([&] { message->complete(call); }) == Errc::already_settled);
        CHECK(message->settled());
    }
    CHECK(f.broker.counts("orders").active == 0);
}

TEST_CASE("R8: a settlement that was prepared and never started leaves the message undecided") {
    SessionReceiverFixture f;
    f.send("a", "1");
    SessionReceiver receiver = f.accept("a");
    auto message = receiver.receive_one();
    REQUIRE(message);
    {
        const auto prepared = detail::prepare_complete(*message, {});
        CHECK(message->settled());
        CHECK(code_of([&] { message->abandon(); }) == Errc::already_settled);
    }
    CHECK_FALSE(message->settled());
    message->complete();
    CHECK(f.broker.counts("orders").active == 0);
}

TEST_CASE("R8: many settlements that did not start leave their messages undecided") {
    SessionReceiverFixture f;
    f.send("a", "1");
    f.send("a", "2");
    SessionReceiver receiver = f.accept("a");
    const auto first = receiver.receive_one();
    const auto second = receiver.receive_one();
    REQUIRE(first);
    REQUIRE(second);
    const auto complete = [&](const CallOptions& call) {
        return detail::client::block(detail::client::complete_all({&*first, &*second}, call));
    };
    for (const auto& failure : complete({.timeout = 0s})) {
        REQUIRE(failure);
        CHECK(failure->code == Errc::timeout);
    }
    CHECK_FALSE(first->settled());
    CHECK_FALSE(second->settled());
    for (const auto& failure : complete({})) {
        CHECK_FALSE(failure);
    }
    CHECK(f.broker.counts("orders").active == 0);
}

TEST_CASE("R8: after the receiver is closed a message cannot be settled, and returns uncounted") {
    SessionReceiverFixture f;
    f.send("a", "1");
    SessionReceiver receiver = f.accept("a");
    auto message = receiver.receive_one();
    REQUIRE(message);
    std::promise<void> told;
    const std::stop_callback fired{receiver.stop_token(), [&] { told.set_value(); }};
    receiver.close();
    told.get_future().get();
    REQUIRE(receiver.loss());
    CHECK(receiver.loss()->code == Errc::cancelled);
    CHECK(code_of([&] { message->complete(); }) == Errc::lock_lost);
    CHECK(code_of([&] { static_cast<void>(receiver.receive(1)); }) == Errc::cancelled);
    receiver.close();
    SessionReceiver again = f.accept("a");
    const auto back = again.receive_one();
    REQUIRE(back);
    CHECK(back->message().delivery_count() == 0);
}

TEST_CASE("session receiver: every outcome reaches the broker") {
    SessionReceiverFixture f;
    for (const char* text : {"abandon", "release", "defer", "dead-letter"}) {
        f.send("a", text);
    }
    SessionReceiver receiver = f.accept("a");
    auto first = receiver.receive_one();
    REQUIRE(first);
    first->abandon({{"why", std::string{"busy"}}});
    first = receiver.receive_one();
    REQUIRE(first);
    CHECK(first->text() == "abandon");
    CHECK(first->message().delivery_count() == 1);
    CHECK(std::get<std::string>(first->message().properties().at("why")) == "busy");
    first->complete();

    auto second = receiver.receive_one();
    REQUIRE(second);
    second->release();
    second = receiver.receive_one();
    REQUIRE(second);
    CHECK(second->text() == "release");
    CHECK(second->message().delivery_count() == 0);
    second->complete();

    auto third = receiver.receive_one();
    REQUIRE(third);
    third->defer();
    auto fourth = receiver.receive_one();
    REQUIRE(fourth);
    fourth->dead_letter("bad", "not a number");

    const QueueCounts counts = f.broker.counts("orders");
    CHECK(counts.active == 0);
    CHECK(counts.deferred == 1);
    CHECK(counts.dead_lettered == 1);

    auto deferred = receiver.receive_deferred({third->sequence_number()});
    CHECK(texts(deferred) == std::vector<std::string>{"defer"});
    deferred.front().complete();
    CHECK(code_of([&] {
              static_cast<void>(receiver.receive_deferred({third->sequence_number()}));
          }) == Errc::message_not_found);
    CHECK(receiver.receive_deferred({}).empty());

    auto dead = Browser{f.client, "orders/$DeadLetterQueue"}.peek(10);
    REQUIRE(dead.size() == 1);
    REQUIRE(dead.front().facts().dead_letter);
    CHECK(dead.front().facts().dead_letter->reason == "bad");
    CHECK(dead.front().facts().dead_letter->description == "not a number");
}

TEST_CASE("session receiver: a message that the receiver outlives settles with its lock, not with "
          "its handle") {
    SessionReceiverFixture f;
    f.send("a", "1");
    std::optional<SessionMessage> kept;
    {
        SessionReceiver receiver = f.accept("a");
        kept = receiver.receive_one();
        REQUIRE(kept);
    }
    // Given back in the background: the next holder gets it as soon as that is done.
    SessionReceiver next = SessionReceiver::accept_next(f.client, "orders", {}, {.timeout = 30s});
    CHECK(code_of([&] { kept->complete(); }) == Errc::lock_lost);
    const auto message = next.receive_one();
    REQUIRE(message);
    CHECK(message->text() == "1");
}

TEST_CASE("session receiver: a session is held by one at a time") {
    SessionReceiverFixture f;
    SessionReceiver receiver = f.accept("a");
    CHECK(code_of([&] { static_cast<void>(f.accept("a")); }) == Errc::session_locked_elsewhere);
    receiver.close();
    CHECK(f.accept("a").session_id() == "a");
}

template <typename R>
concept can_receive_unnamed = requires(R&& unnamed) {
    std::forward<R>(unnamed).receive(1);
};

// Its session would be given back before the messages are settled.
static_assert(!can_receive_unnamed<SessionReceiver>);
static_assert(!can_receive_unnamed<Receiver>);
static_assert(can_receive_unnamed<SessionReceiver&>);

TEST_CASE("R5: no session is an answer") {
    SessionReceiverFixture f;
    CHECK_FALSE(SessionReceiver::accept_next_if_any(f.client, "orders"));
    CHECK_FALSE(SessionReceiver::accept_next_if_any(f.client, "orders", 1ms));
    CHECK_FALSE(
        SessionReceiver::accept_next_if_any(f.client, "orders", 1ns)); // over before it starts
    const CallOptions short_lived{.timeout = 2ms};
    CHECK(code_of([&] {
              static_cast<void>(SessionReceiver::accept_next(f.client, "orders", {}, short_lived));
          }) == Errc::no_session_available);
    CHECK_FALSE(SessionReceiver::accept_next_if_any(f.client, "orders", 1h, {}, short_lived));
    f.send("x", "1");
    const auto receiver = SessionReceiver::accept_next_if_any(f.client, "orders");
    REQUIRE(receiver);
    CHECK(receiver->session_id() == "x");
}

TEST_CASE("R19: an accept that was given up leaves no session behind") {
    SessionReceiverFixture f;
    std::stop_source stop;
    auto accepted = std::async(std::launch::async, [&] {
        return code_of([&] {
            static_cast<void>(
                SessionReceiver::accept_next(f.client, "orders", {}, {.stop = stop.get_token()}));
        });
    });
    stop.request_stop();
    CHECK(accepted.get() == Errc::cancelled);
    f.send("a", "1");
    CHECK(f.accept("a").session_id() == "a");
}

TEST_CASE("session receiver: state is kept with the session") {
    SessionReceiverFixture f;
    {
        SessionReceiver receiver = f.accept("a");
        CHECK_FALSE(receiver.state());
        receiver.set_state("half done");
        receiver.close();
    }
    SessionReceiver receiver = f.accept("a");
    CHECK(receiver.state() == "half done");
    receiver.set_state(std::nullopt);
    CHECK_FALSE(receiver.state());
}

TEST_CASE("R11: a lock is renewed by itself while the application does nothing") {
    SessionReceiverFixture f{{.lock_duration = 1s}};
    SessionReceiver receiver = f.accept("a");
    const Deadline first = receiver.lock_expires();
    while (receiver.lock_expires() == first && !receiver.loss()) {
        std::this_thread::yield();
    }
    CHECK(receiver.lock_expires() > first);
    CHECK_FALSE(receiver.loss());
}

TEST_CASE("R13: without renewal the stop token fires and the lock is lost, for everything") {
    SessionReceiverFixture f{{.lock_duration = 300ms}};
    f.send("a", "1");
    SessionReceiver receiver = f.accept("a", {.auto_renew = false});
    auto message = receiver.receive_one();
    REQUIRE(message);
    std::promise<void> warned;
    const std::stop_callback fired{receiver.stop_token(), [&] { warned.set_value(); }};
    warned.get_future().get();
    CHECK(code_of([&] { static_cast<void>(receiver.receive(1)); }) == Errc::lock_lost);
    CHECK(code_of([&] { message->complete(); }) == Errc::lock_lost);
    REQUIRE(receiver.loss());
    CHECK(receiver.loss()->code == Errc::lock_lost);
    receiver.close();
}

TEST_CASE("session receiver: a lock can be renewed by hand") {
    SessionReceiverFixture f;
    SessionReceiver receiver = f.accept("a", {.auto_renew = false});
    const Deadline first = receiver.lock_expires();
    const Deadline renewed = receiver.renew_lock();
    CHECK(renewed >= first);
    CHECK(receiver.lock_expires() == renewed);
}

TEST_CASE("session receiver: the end of its queue is the end of its lock") {
    SessionReceiverFixture f;
    SessionReceiver receiver = f.accept("a");
    auto waiting = std::async(std::launch::async, [&] {
        return code_of([&] { static_cast<void>(receiver.receive(1)); });
    });
    f.broker.delete_queue("orders");
    CHECK(waiting.get() == Errc::entity_not_found);
    REQUIRE(receiver.loss());
    CHECK(receiver.loss()->code == Errc::entity_not_found);
}

TEST_CASE("session receiver: close ends a receive under way") {
    SessionReceiverFixture f;
    SessionReceiver receiver = f.accept("a");
    auto waiting = std::async(std::launch::async, [&] {
        return code_of([&] { static_cast<void>(receiver.receive(1)); });
    });
    receiver.close();
    CHECK(waiting.get() == Errc::cancelled);
}

TEST_CASE("session receiver: receive and delete needs no settling") {
    SessionReceiverFixture f;
    f.send("a", "1");
    SessionReceiver receiver = f.accept("a", {.receive_and_delete = true});
    auto message = receiver.receive_one();
    REQUIRE(message);
    CHECK(message->settled());
    CHECK(code_of([&] { message->complete(); }) == Errc::already_settled);
    CHECK(f.broker.counts("orders").active == 0);
}

TEST_CASE("session receiver: arguments are refused by name before anything happens") {
    SessionReceiverFixture f;
    const std::string too_long(129, 'x');
    CHECK(code_of([&] { static_cast<void>(f.accept(too_long)); }) == Errc::invalid_argument);
    CHECK(code_of([&] { static_cast<void>(f.accept("\xff")); }) == Errc::invalid_argument);
    CHECK(code_of([&] { static_cast<void>(SessionReceiver::accept(f.client, "", "a")); }) ==
          Errc::invalid_argument);
    CHECK(code_of([&] {
              static_cast<void>(SessionReceiver::accept_next_if_any(f.client, "orders", -1s));
          }) == Errc::invalid_argument);
    CHECK(code_of([&] { static_cast<void>(f.accept("a", {.max_lock_renewal = -1s})); }) ==
          Errc::invalid_option);
    SessionReceiver receiver = f.accept("a");
    CHECK(code_of([&] { static_cast<void>(receiver.receive(0)); }) == Errc::invalid_argument);
    CHECK(code_of([&] { static_cast<void>(receiver.receive(10'001)); }) == Errc::invalid_argument);
    CHECK(code_of([&] { static_cast<void>(receiver.receive(1, -1s)); }) == Errc::invalid_argument);
    CHECK(code_of([&] { static_cast<void>(SessionReceiver::accept(f.client, "none", "a")); }) ==
          Errc::entity_not_found);
}

TEST_CASE("R20: a deadline in scope bounds the call, and one that has passed ends it at once") {
    SessionReceiverFixture f;
    f.send("a", "1");
    SessionReceiver receiver = f.accept("a");
    auto message = receiver.receive_one();
    REQUIRE(message);
    const OperationContext::Scope scope{OperationContext{Deadline::at(core::system_clock().now())}};
    CHECK(code_of([&] { static_cast<void>(receiver.state()); }) == Errc::timeout);
    CHECK(code_of([&] { message->complete(); }) == Errc::timeout);
}
