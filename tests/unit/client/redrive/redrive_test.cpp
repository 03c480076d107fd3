// SPDX-License-Identifier: MIT
#include <sessionq/redrive.hpp>

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/use_future.hpp>

#include <sessionq/async.hpp>
#include <sessionq/sessionq.hpp>

#include "client/calls/blocking.hpp"
#include "client/redrive/redrive_mark.hpp"
#include "client/redrive/redrive_route.hpp"
#include "client/sending/sender_core.hpp"
#include "core/access.hpp"
#include "support/code_of.hpp"
#include "unit/client/broker_front.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using test::code_of;

namespace {

/// Sends the bodies to the session, and dead-letters them.
void bury(const Client& client, const std::string& entity, const std::string& session,
          const std::vector<std::string>& bodies, const std::string& reason = "Broken") {
    const Sender sender{client, entity.substr(0, entity.find("/Subscriptions/"))};
    for (const std::string& body : bodies) {
        Message message = Message::of(body).in_session(session);
        message.message_id = "id-" + body.substr(0, 20);
        message.properties["kind"] = std::string{"order"};
        sender.send(std::move(message));
    }
    SessionReceiver receiver = SessionReceiver::accept(client, entity, session);
    for (std::size_t left = bodies.size(); left != 0; --left) {
        receiver.receive_one()->dead_letter(reason, "because");
    }
    receiver.close();
}

std::string dead_of(const Client& client, const std::string& entity) {
    std::string all;
    for (const auto& message : Browser{client, entity, {.sub_queue = SubQueue::dead_letter}}) {
        all.append(all.empty() ? "" : " ").append(message.text());
    }
    return all;
}

std::string there(const Client& client, const std::string& entity, const std::string& session) {
    std::string all;
    for (const auto& message : Browser{client, entity, {.session_id = session}}) {
        all.append(all.empty() ? "" : " ").append(message.text());
    }
    return all;
}

void check_redrive(const Client& client) {
    bury(client, "orders", "a", {"1", "2"});
    bury(client, "orders", "b", {"3"});
    bury(client, "orders", "a", {"4"});
    Sender{client, "orders"}.send(Message::of("newer").in_session("a"));
    std::vector<RedriveReport> told;
    const auto report =
        redrive(client, "orders", {.on_progress = [&](const auto& now) { told.push_back(now); }});
    CHECK(report.selected == 4);
    CHECK(report.sent == 4);
    CHECK(report.sessions == 2);
    CHECK(report.left == 0);
    CHECK(dead_of(client, "orders").empty());
    CHECK(there(client, "orders", "a") == "newer 1 2 4");
    CHECK(there(client, "orders", "b") == "3");
    REQUIRE(told.size() >= 2);
    CHECK(told.front().selected == 4);
    CHECK(told.front().left == 4);
    CHECK(told.back().sent == 4);
    CHECK(redrive(client, "orders").selected == 0);
}

struct Fixture {
    explicit Fixture(QueueOptions options = {}) { broker.create_queue("orders", options); }

    LocalBroker broker{};
    Client client{Client::in_process(broker)};
};

/// What a redrive had sent before it was killed: the copies of the first dead letters.
void send_copies(const Client& client, std::size_t count) {
    Browser dead{client, "orders", {.sub_queue = SubQueue::dead_letter}};
    const Sender sender{client, "orders"};
    for (const auto& letter : dead.peek(static_cast<std::uint32_t>(count))) {
        detail::client::block(detail::client::Access::core(sender)->send(
            std::vector{detail::client::redriven_copy(letter, "orders/$deadletterqueue", {})}, {}));
    }
}

} // namespace

TEST_CASE("redrive: each session's dead letters go back in order") {
    SUBCASE("in process") { check_redrive(Fixture{}.client); }
    SUBCASE("over a network") {
        const Fixture f;
        check_redrive(test::BrokerFront{f.broker}.connect());
    }
}

TEST_CASE("redrive: a copy has a new id and a mark, and its own life") {
    Fixture f;
    bury(f.client, "orders", "a", {"1"});
    CHECK(redrive(f.client, "orders").sent == 1);
    const auto copies = Browser{f.client, "orders"}.peek(10);
    REQUIRE(copies.size() == 1);
    const ReceivedMessage& copy = copies.front();
    const Properties& properties = copy.properties();
    CHECK(copy.message_id() != "id-1");
    CHECK(properties.at("kind") == PropertyValue{"order"});
    CHECK(properties.at(std::string{redrive_source_property}) ==
          PropertyValue{"orders/$deadletterqueue"});
    CHECK(properties.contains(redrive_number_property));
    CHECK(properties.at(std::string{redrive_message_id_property}) == PropertyValue{"id-1"});
    CHECK_FALSE(properties.contains("DeadLetterReason"));
    // The application's id survives a second redrive.
    SessionReceiver::accept(f.client, "orders", "a").receive_one()->dead_letter("again");
    CHECK(redrive(f.client, "Orders").sent == 1);
    const auto again = Browser{f.client, "orders"}.peek(10);
    REQUIRE(again.size() == 1);
    CHECK(again.front().properties().at(std::string{redrive_message_id_property}) ==
          PropertyValue{"id-1"});
    CHECK(again.front().message_id() != copy.message_id());
}

TEST_CASE(
    "redrive: filter and max_messages select, the others stay and are not counted as delivered") {
    Fixture f;
    bury(f.client, "orders", "a", {"1", "2"}, "Down");
    bury(f.client, "orders", "b", {"3"}, "Down");
    bury(f.client, "orders", "a", {"4"}, "Broken");
    const auto count_before =
        Browser{f.client, "orders", {.sub_queue = SubQueue::dead_letter}}.peek(1).front();
    CHECK(redrive(f.client, "orders", {.filter = {.older_than = 1h}}).selected == 0);
    CHECK(redrive(f.client, "orders", {.filter = {.session_id = "b"}}).sent == 1);
    CHECK(dead_of(f.client, "orders") == "1 2 4");
    const auto first = Browser{f.client, "orders", {.sub_queue = SubQueue::dead_letter}}.peek(1);
    CHECK(first.front().delivery_count() == count_before.delivery_count());
    CHECK(redrive(f.client, "orders", {.filter = {.reason = "Down"}, .max_messages = 1}).sent == 1);
    CHECK(dead_of(f.client, "orders") == "2 4");
    CHECK(redrive(f.client, "orders", {.filter = {.reason = "Broken"}}).sent == 1);
    CHECK(there(f.client, "orders", "a") == "1 4");
}

TEST_CASE("redrive: what an earlier one had sent is not sent again") {
    SUBCASE("by its mark, while the copies are there") {
        Fixture f;
        bury(f.client, "orders", "a", {"1", "2", "3"});
        send_copies(f.client, 2);
        const auto report = redrive(f.client, "orders");
        CHECK(report.already_sent == 2);
        CHECK(report.sent == 1);
        CHECK(there(f.client, "orders", "a") == "1 2 3");
    }
    SUBCASE("by its id, when they were handled, and the queue detects duplicates") {
        Fixture f{{.duplicate_detection_window = 1h}};
        bury(f.client, "orders", "a", {"1", "2", "3"});
        send_copies(f.client, 2);
        SessionReceiver consumer = SessionReceiver::accept(f.client, "orders", "a");
        for (auto& message : consumer.receive(2)) {
            message.complete();
        }
        consumer.close();
        CHECK(redrive(f.client, "orders").left == 0);
        CHECK(there(f.client, "orders", "a") == "3");
    }
    SUBCASE("in a queue without sessions") {
        Fixture f{{.requires_session = false}};
        const Sender sender{f.client, "orders"};
        sender.send({.body = "1"});
        sender.send(Message::of("2").in_session("a"));
        Receiver receiver = Receiver::open(f.client, "orders");
        for (auto& message : receiver.receive(2)) {
            message.dead_letter("Broken");
        }
        receiver.close();
        send_copies(f.client, 1);
        const auto report = redrive(f.client, "orders");
        CHECK(report.already_sent == 1);
        CHECK(report.sent == 1);
        CHECK(f.broker.counts("orders").active == 2);
        CHECK(f.broker.counts("orders").dead_lettered == 0);
    }
}

TEST_CASE("redrive: as a value, an exception of on_progress is a failed handler") {
    Fixture f;
    bury(f.client, "orders", "a", {"1"});
    const auto failed = try_redrive(f.client, "orders", {.on_progress = [](const RedriveReport&) {
                                        throw std::runtime_error{"scripted"};
                                    }});
    REQUIRE_FALSE(failed);
    CHECK(failed.error().code == Errc::handler_failed);
    CHECK(failed.error().detail == "scripted");
    const auto report = try_redrive(f.client, "orders");
    REQUIRE(report);
    CHECK(report->sent + report->already_sent == 1);
    CHECK(try_redrive(f.client, "nowhere").error().code == Errc::entity_not_found);
}

TEST_CASE("redrive: the session is held until its dead letters are through") {
    Fixture f{{.max_message_bytes = 1000}}; // one or two copies a send
    bury(f.client, "orders", "a", {"1", "2", "3", std::string(300, 'x')});
    std::size_t refused = 0;
    const auto report =
        redrive(f.client, "orders", {.on_progress = [&](const RedriveReport& now) {
                    if (now.sent != 0 && now.left != 0) {
                        refused +=
                            code_of([&] {
                                static_cast<void>(SessionReceiver::accept(f.client, "orders", "a"));
                            }) == Errc::session_locked_elsewhere
                                ? 1
                                : 0;
                    }
                }});
    CHECK(report.sent == 4);
    CHECK(refused > 0);
    SessionReceiver::accept(f.client, "orders", "a").close(); // it was given back
}

TEST_CASE("redrive: a dead letter that is larger than a batch may be goes back alone") {
    Fixture f{{.max_message_bytes = std::size_t{3} << 20U}};
    const std::string large((std::size_t{3} << 20U) / 2, 'x');
    bury(f.client, "orders", "a", {"1", large, "3"});
    CHECK(redrive(f.client, "orders").sent == 3);
    CHECK(there(f.client, "orders", "a") == "1 " + large + " 3");
}

TEST_CASE("redrive: a session or dead letter that another consumer holds is left") {
    Fixture f;
    bury(f.client, "orders", "a", {"1"});
    bury(f.client, "orders", "b", {"2", "3"});
    SUBCASE("the session") {
        SessionReceiver consumer = SessionReceiver::accept(f.client, "orders", "a");
        const auto report = redrive(f.client, "orders", {.max_wait = 0s});
        CHECK(report.sent == 2);
        CHECK(report.left == 1);
        CHECK(report.busy_sessions == 1);
        CHECK(dead_of(f.client, "orders") == "1");
        const auto unheld = redrive(f.client, "orders", {.hold_sessions = false, .max_wait = 0s});
        CHECK(unheld.sent == 1);
    }
    SUBCASE("the session, until it is free") {
        auto consumer = std::make_optional(SessionReceiver::accept(f.client, "orders", "a"));
        const auto report =
            redrive(f.client, "orders", {.on_progress = [&](const RedriveReport& now) {
                        if (now.sent == 2) {
                            consumer.reset();
                        }
                    }});
        CHECK(report.sent == 3);
    }
    SUBCASE("the dead letter: none of its session overtakes it") {
        Receiver reader = Receiver::open(f.client, "orders", {.sub_queue = SubQueue::dead_letter});
        auto held = reader.receive(2);
        REQUIRE(held.size() == 2);
        held.front().release(); // that of a
        const auto report = redrive(f.client, "orders", {.max_wait = 0s});
        CHECK(report.sent == 1);
        CHECK(report.left == 2);
        CHECK(there(f.client, "orders", "a") == "1");
        CHECK(there(f.client, "orders", "b").empty());
    }
}

TEST_CASE("redrive: a subscription's dead letters go through its topic, if that is wanted") {
    LocalBroker broker;
    broker.create_topic("events");
    broker.create_subscription("events", "audit");
    const Client client = Client::in_process(broker);
    const std::string audit = "events/Subscriptions/audit";
    bury(client, audit, "a", {"1", "2"});
    CHECK(code_of([&] { redrive(client, audit); }) == Errc::invalid_option);
    CHECK(redrive(client, audit, {.through_topic = true}).sent == 2);
    CHECK(there(client, audit, "a") == "1 2");
}

TEST_CASE("redrive: bad arguments are named, a deadline and a stop token end it") {
    Fixture f;
    bury(f.client, "orders", "a", {"1"});
    CHECK(code_of([&] { redrive(f.client, ""); }) == Errc::invalid_argument);
    CHECK(code_of([&] { redrive(f.client, "orders/$DeadLetterQueue"); }) == Errc::invalid_argument);
    CHECK(code_of([&] { redrive(f.client, "none"); }) == Errc::entity_not_found);
    CHECK(code_of([&] { redrive(f.client, "orders", {.max_wait = -1s}); }) == Errc::invalid_option);
    CHECK(code_of([&] { redrive(f.client, "orders", {.filter = {.older_than = -1s}}); }) ==
          Errc::invalid_option);
    CHECK(code_of([&] {
              redrive(f.client, "orders", {.filter = {.session_id = std::string(129, 'x')}});
          }) == Errc::invalid_option);
    std::stop_source stop;
    stop.request_stop();
    CHECK(code_of([&] { redrive(f.client, "orders", {}, {.stop = stop.get_token()}); }) ==
          Errc::cancelled);
    CHECK(code_of([&] { redrive(f.client, "orders", {}, {.timeout = 0s}); }) == Errc::timeout);
    CHECK(dead_of(f.client, "orders") == "1");
    // The deadline of the call is not that of the messages.
    const OperationContext::Scope scope{
        OperationContext{Deadline::after(1h, std::chrono::steady_clock::now())}};
    CHECK(redrive(f.client, "orders").sent == 1);
    CHECK(Browser{f.client, "orders"}.peek(1).front().deadline().is_never());
}

TEST_CASE("redrive: a broker without receivers of dead letters is refused by name") {
    try {
        static_cast<void>(detail::client::redrive_route(
            {"Apache Artemis", {ports::Capability::peek}}, "orders", {}));
        FAIL("not refused");
    } catch (const Error& error) {
        CHECK(error.code() == Errc::not_supported);
        CHECK(error.failure().detail.find("Apache Artemis") != std::string::npos);
    }
}

TEST_CASE("redrive: the progress callback may end it, and a repeat goes on") {
    Fixture f;
    bury(f.client, "orders", "a", {"1"});
    bury(f.client, "orders", "b", {"2"});
    CHECK_THROWS_AS(redrive(f.client, "orders",
                            {.on_progress =
                                 [](const RedriveReport& now) {
                                     if (now.sent == 1) {
                                         throw std::runtime_error{"enough"};
                                     }
                                 }}),
                    std::runtime_error);
    CHECK(redrive(f.client, "orders").sent == 1);
    CHECK(there(f.client, "orders", "a") == "1");
    CHECK(there(f.client, "orders", "b") == "2");
}

TEST_CASE("redrive: awaited") {
    Fixture f;
    bury(f.client, "orders", "a", {"1", "2"});
    asio::io_context io;
    auto report = asio::co_spawn(io, async_redrive(f.client, "orders"), asio::use_future);
    io.run();
    CHECK(report.get().sent == 2);
    CHECK(there(f.client, "orders", "a") == "1 2");
}

TEST_CASE("DeadLetterFilter: session, reason and age must all match, what is unset holds for all") {
    const auto letter = [](Message message, std::shared_ptr<const DeadLetterInfo> why = {}) {
        return ReceivedMessage{std::make_shared<const DecodedContent>(std::move(message)),
                               {.enqueued_time = WallTime{} + 10s, .dead_letter = std::move(why)}};
    };
    const auto ada = letter(Message::of("x").in_session("ada"),
                            std::make_shared<const DeadLetterInfo>(DeadLetterInfo{"Bad", "very"}));
    CHECK(DeadLetterFilter{}.matches(letter({}), WallTime{}));
    CHECK(DeadLetterFilter{.session_id = "ada"}.matches(ada, {}));
    CHECK(DeadLetterFilter{.session_id = "ADA"}.matches(ada, {})); // the same session
    CHECK_FALSE(DeadLetterFilter{.session_id = "ben"}.matches(ada, {}));
    CHECK_FALSE(DeadLetterFilter{.session_id = ""}.matches(letter({}), {})); // none is not ""
    CHECK(DeadLetterFilter{.session_id = ""}.matches(letter(Message::of("x").in_session("")), {}));
    CHECK(DeadLetterFilter{.reason = "Bad"}.matches(ada, {}));
    CHECK_FALSE(DeadLetterFilter{.reason = "bad"}.matches(ada, {}));
    CHECK_FALSE(DeadLetterFilter{.reason = "Bad"}.matches(letter({}), {}));
    CHECK(DeadLetterFilter{.older_than = 5s}.matches(ada, WallTime{} + 16s));
    CHECK_FALSE(DeadLetterFilter{.older_than = 5s}.matches(ada, WallTime{} + 15s));
    CHECK_FALSE(DeadLetterFilter{.older_than = 0s}.matches(ada, WallTime{})); // its clock is ahead
    CHECK_FALSE(DeadLetterFilter{.session_id = "ada", .reason = "Other"}.matches(ada, {}));
}
