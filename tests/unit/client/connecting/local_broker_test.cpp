// SPDX-License-Identifier: MIT
#include <sessionq/local_broker.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include <sessionq/browser.hpp>
#include <sessionq/client.hpp>
#include <sessionq/error.hpp>
#include <sessionq/logging.hpp>
#include <sessionq/sender.hpp>
#include <sessionq/session_receiver.hpp>

#include "core/clock.hpp"
#include "core/id_check.hpp"
#include "support/code_of.hpp"
#include "support/temporary_directory.hpp"
#include "unit/client/orders_fixture.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using test::code_of;
using test::OrdersFixture;

TEST_CASE("local broker: queues are made, found and deleted by name") {
    LocalBroker broker;
    broker.create_queue("orders");
    CHECK(broker.queue_exists("orders"));
    CHECK(broker.queue_names() == std::vector<std::string>{"orders"});
    CHECK(code_of([&] { broker.create_queue("orders"); }) == Errc::duplicate_entity);
    CHECK(code_of([&] { broker.create_queue(""); }) == Errc::invalid_argument);
    CHECK(code_of([&] { broker.create_queue("x", {.lock_duration = 0s}); }) ==
          Errc::invalid_option);
    broker.delete_queue("orders");
    CHECK_FALSE(broker.queue_exists("orders"));
    CHECK(code_of([&] { broker.delete_queue("orders"); }) == Errc::entity_not_found);
    CHECK(code_of([&] { static_cast<void>(broker.counts("orders")); }) == Errc::entity_not_found);
}

TEST_CASE("local broker: what is due happens by itself") {
    LocalBroker broker;
    broker.create_queue("orders", {.dead_letter_on_expiration = true});
    const Client client = Client::in_process(broker);
    Message message = Message::of("short-lived").in_session("a");
    message.time_to_live = 2ms;
    Sender{client, "orders"}.send(std::move(message));
    // `counts` of the dead letters does not make the message expire. The broker's thread does.
    while (broker.counts("orders/$DeadLetterQueue").active == 0) {
        std::this_thread::yield();
    }
    CHECK(broker.counts("orders").dead_lettered == 1);
}

TEST_CASE("local broker: its queues live as long as a client of it") {
    std::optional<Client> client;
    {
        LocalBroker broker;
        broker.create_queue("orders");
        client = Client::in_process(broker);
    }
    Sender{*client, "orders"}.send(Message::of("1").in_session("a"));
    CHECK(Browser{*client, "orders"}.peek(10).size() == 1);
}

TEST_CASE("client: bad options are refused by member name") {
    const LocalBroker broker;
    const auto message_of = [&](ClientOptions options) {
        try {
            static_cast<void>(Client::in_process(broker, options));
        } catch (const Error& error) {
            return error.failure().code == Errc::invalid_option ? error.failure().detail
                                                                : std::string{"another error"};
        }
        return std::string{};
    };
    CHECK(message_of({.receive_threads = 0}).find("receive_threads") != std::string::npos);
    CHECK(message_of({.receive_threads = 65}).find("receive_threads") != std::string::npos);
    CHECK(message_of({.operation_timeout = 0s}).find("operation_timeout") != std::string::npos);
    CHECK(message_of({.operation_timeout = 24h}).empty());
    CHECK(message_of({.operation_timeout = 24h + 1ns}).find("operation_timeout") !=
          std::string::npos);
    CHECK(message_of({.receive_spin = 1s}).find("receive_spin") != std::string::npos);
    CHECK(message_of({.connection_idle_timeout = 3s}).find("connection_idle_timeout") !=
          std::string::npos);
    for (const Duration bad : {Duration{-1s}, Duration{999ms}, Duration{1h + 1s}}) {
        CHECK(message_of({.connection_write_idle_timeout = bad})
                  .find("connection_write_idle_timeout") != std::string::npos);
    }
    CHECK(message_of({.reconnect_backoff = {.min = 0ms}}).find("reconnect_backoff.min") !=
          std::string::npos);
    CHECK(message_of({.reconnect_backoff = {.min = 2s, .max = 1s}}).find("reconnect_backoff.max") !=
          std::string::npos);
    CHECK(message_of({.receive_threads = 2, .receive_spin = 10us}).empty());
    CHECK(message_of({.connection_write_idle_timeout = 1s}).empty());
    CHECK(message_of({.connection_write_idle_timeout = 1h}).empty());
}

TEST_CASE("sender: a message without an id gets one of its own; one with an id keeps it") {
    OrdersFixture f;
    f.sender.send_all({Message::of("1").in_session("a"), Message::of("2").in_session("a")});
    Message named = Message::of("3").in_session("a");
    named.message_id = "mine";
    f.sender.send(std::move(named));
    const auto messages = Browser{f.client, "orders"}.peek(10);
    REQUIRE(messages.size() == 3);
    CHECK(messages[0].message_id().size() == 36);
    CHECK(messages[0].message_id() != messages[1].message_id());
    CHECK(messages[2].message_id() == "mine");
}

TEST_CASE("sender: scheduled messages become available later, and are taken back before") {
    OrdersFixture f;
    const WallTime later = core::system_clock().wall_now() + 1h;
    const auto number = f.sender.schedule(Message::of("1").in_session("a"), later);
    CHECK(f.sender
              .schedule_all({Message::of("2").in_session("a"), Message::of("3").in_session("a")},
                            later)
              .size() == 2);
    CHECK(f.broker.counts("orders").scheduled == 3);
    f.sender.cancel_scheduled({number});
    CHECK(f.broker.counts("orders").scheduled == 2);
    CHECK(code_of([&] { f.sender.cancel_scheduled({number}); }) == Errc::message_not_found);
}

TEST_CASE("sender: fields are refused by name before anything is sent") {
    OrdersFixture f;
    const auto detail_of = [&](Message message) {
        try {
            f.sender.send(std::move(message));
        } catch (const Error& error) {
            return error.failure().code == Errc::invalid_argument ? error.failure().detail
                                                                  : std::string{"another error"};
        }
        return std::string{};
    };
    CHECK(detail_of({.session_id = std::string(129, 'x')}).find("session_id") != std::string::npos);
    CHECK(detail_of({.session_id = "a", .message_id = std::string(129, 'x')}).find("message_id") !=
          std::string::npos);
    CHECK(detail_of({.session_id = "Zo\xeb"}) == "Message::session_id is not valid UTF-8");
    CHECK(detail_of({.session_id = "a", .message_id = "\xff"}) ==
          "Message::message_id is not valid UTF-8");
    CHECK(detail_of({.session_id = "a", .reply_to_session_id = "\xff"}) ==
          "Message::reply_to_session_id is not valid UTF-8");
    CHECK(detail_of({.session_id = "a", .subject = "\xff"}) ==
          "Message::subject is not valid UTF-8");
    CHECK(detail_of({.session_id = "a", .correlation_id = "\xff"}) ==
          "Message::correlation_id is not valid UTF-8");
    CHECK(detail_of({.session_id = "a", .reply_to = "\xff"}) ==
          "Message::reply_to is not valid UTF-8");
    CHECK(detail_of({.session_id = "a", .to = "\xff"}) == "Message::to is not valid UTF-8");
    CHECK(detail_of({.session_id = "a", .content_type = "\xff"}) ==
          "Message::content_type is not valid UTF-8");
    CHECK(detail_of({.session_id = "a", .properties = {{"\xff", true}}}) ==
          "Message::properties: the name '\xef\xbf\xbd' is not valid UTF-8");
    CHECK(detail_of({.session_id = "a", .properties = {{"k", std::string{"\xff"}}}})
              .find("Message::properties: the text of 'k' is not valid UTF-8") == 0);
    CHECK(detail_of({.body = "b", .value = "v", .session_id = "a"}) ==
          "Message::value and Message::body are both set");
    CHECK(detail_of({.body = "b", .sequence = AmqpList{}, .session_id = "a"}) ==
          "Message::sequence and Message::body are both set");
    CHECK(detail_of({.value = "v", .sequence = AmqpList{}, .session_id = "a"}) ==
          "Message::value and Message::sequence are both set");
    CHECK(detail_of(Message::of_value(AmqpMap{{"k", AmqpList{"\xff"}}}).in_session("a"))
              .find("Message::value: a text is not valid UTF-8") == 0);
    CHECK(detail_of(Message::of_sequence({EncodedValue{"x"}}).in_session("a")) ==
          "Message::sequence: the bytes of an EncodedValue are not one encoded value");
    AmqpValue deep;
    for (int i = 0; i < 33; ++i) {
        deep = AmqpValue{AmqpList(1, deep)};
    }
    CHECK(detail_of(Message::of_value(deep).in_session("a")) ==
          "Message::value: lists and maps are nested more than 32 deep");
    CHECK(code_of([&] { Sender{f.client, "\xff"}; }) == Errc::invalid_argument);
    CHECK(detail_of({.session_id = "a", .time_to_live = 0ms}).find("time_to_live") !=
          std::string::npos);
    CHECK(code_of([&] { Sender{f.client, ""}; }) == Errc::invalid_argument);
    CHECK(code_of([&] { f.sender.send(Message{.body = "no session"}); }) == Errc::session_required);
    CHECK(f.broker.counts("orders").active == 0);
    CHECK(detail_of({.session_id = "a", .time_to_live = 1ms}).empty());
}

TEST_CASE("sender: the length of ids is counted in characters, not bytes") {
    std::string id;
    for (int i = 0; i < 128; ++i) {
        id += "\u00e9";
    }
    CHECK(core::is_id(id));
    CHECK_FALSE(core::is_id(id + "x"));
}

TEST_CASE("browser: pages through an entity and disturbs nothing") {
    OrdersFixture f;
    for (int i = 0; i < 10; ++i) {
        f.sender.send(Message::of(std::to_string(i)).in_session(i % 2 == 0 ? "even" : "odd"));
    }
    std::vector<std::string> seen;
    for (const ReceivedMessage& message : Browser{f.client, "orders", {.page_size = 3}}) {
        seen.emplace_back(message.text());
        CHECK(message.delivery_count() == 0);
    }
    CHECK(seen == std::vector<std::string>{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"});
    Browser odd{f.client, "orders", {.session_id = "odd"}};
    CHECK(odd.peek(3).size() == 3);
    CHECK(odd.peek(3).size() == 2);
    CHECK(odd.peek(3).empty());
    odd.seek(0);
    CHECK(odd.peek(1).front().text() == "1");
    CHECK(code_of([&] { static_cast<void>(odd.peek(0)); }) == Errc::invalid_argument);
    CHECK(code_of([&] { Browser{f.client, "orders", {.page_size = 0}}; }) == Errc::invalid_option);
    CHECK(code_of([&] {
              Browser{f.client, "orders", {.session_id = "\xff"}};
          }) == Errc::invalid_option);
    CHECK(f.broker.counts("orders").active == 10);
    auto sessions = list_sessions(f.client, "orders");
    CHECK(sessions == std::vector<std::string>{"even", "odd"});
}

TEST_CASE("browser: more sessions than fit a page are listed") {
    OrdersFixture f;
    std::vector<Message> messages;
    for (int i = 0; i < 1'001; ++i) {
        messages.push_back(Message::of("x").in_session(std::to_string(i)));
    }
    f.sender.send_all(std::move(messages));
    CHECK(list_sessions(f.client, "orders").size() == 1'001);
}

TEST_CASE(
    "local broker: topics and subscriptions with rules are made, listed, changed and deleted") {
    LocalBroker broker;
    broker.create_topic("news");
    broker.create_subscription("news", "all", {.requires_session = false});
    broker.create_subscription(
        "News", "red",
        {.rules = {
             {.name = "red", .filter = SqlFilter{"color = 'red'"}, .action = "SET seen = TRUE"}}});
    CHECK(broker.topic_names() == std::vector<std::string>{"news"});
    CHECK(broker.queue_names().empty());
    CHECK(broker.subscription_names("NEWS") == std::vector<std::string>{"all", "red"});
    CHECK(broker.rules("news", "all") == std::vector<Rule>{{.name = "$Default"}});
    broker.add_rule("news", "red",
                    {.name = "blue",
                     .filter = CorrelationFilter{.properties = {{"color", std::string{"blue"}}}}});
    CHECK(broker.rules("news", "red").size() == 2);
    broker.remove_rule("news", "red", "blue");
    CHECK(broker.rules("news", "red").size() == 1);
    CHECK(code_of([&] { broker.add_rule("news", "red", {.name = "RED"}); }) ==
          Errc::duplicate_entity);
    CHECK(code_of([&] {
              broker.add_rule("news", "red",
                              {.name = "bad", .filter = SqlFilter{"color"}, .action = "no"});
          }) == Errc::invalid_argument);
    CHECK(code_of([&] { broker.remove_rule("news", "red", "none"); }) == Errc::entity_not_found);
    CHECK(code_of([&] { static_cast<void>(broker.rules("news", "none")); }) ==
          Errc::entity_not_found);
    CHECK(code_of([&] { broker.delete_queue("news"); }) == Errc::entity_not_found);
    CHECK_FALSE(broker.queue_exists("news"));
    CHECK(broker.queue_exists("news/subscriptions/all/$deadletterqueue"));
    broker.delete_subscription("news", "all");
    CHECK(code_of([&] { broker.delete_subscription("news", "all"); }) == Errc::entity_not_found);
    broker.delete_topic("news");
    CHECK(code_of([&] { static_cast<void>(broker.counts("news/Subscriptions/red")); }) ==
          Errc::entity_not_found);
}

TEST_CASE("local broker: bad options of topics, subscriptions and forwarding are named") {
    LocalBroker broker;
    broker.create_topic("news");
    const auto complaint = [](const std::function<void()>& call) {
        try {
            call();
        } catch (const Error& error) {
            return std::string{to_string(error.failure().code)} + " " + error.failure().detail;
        }
        return std::string{};
    };
    CHECK(complaint([&] {
              broker.create_topic("x", {.max_message_bytes = 0});
          }).find("invalid_option max_message_bytes") == 0);
    CHECK(complaint([&] {
              broker.create_subscription("news", "x", {.lock_duration = 0s});
          }).find("invalid_option lock_duration") == 0);
    CHECK(complaint([&] {
              broker.create_subscription("news", "x", {.rules = {{.name = "r", .action = "no"}}});
          }).find("invalid_option rules[0]") == 0);
    CHECK(complaint([&] {
              broker.create_subscription("news", "x", {.forward_to = "news"});
          }).find("invalid_option forward_to") == 0);
    CHECK(complaint([&] {
              broker.create_queue("x", {.requires_session = false, .forward_to = "none"});
          }).find("entity_not_found forward_to") == 0);
    CHECK(complaint([&] {
              broker.create_queue("x", {.order = MessageOrder::priority});
          }).find("invalid_option order must be arrival") == 0); // it has sessions
    CHECK(complaint([&] {
              broker.create_subscription(
                  "news", "x", {.requires_session = false, .order = MessageOrder::property});
          }).find("invalid_option order_property") == 0);
    broker.create_queue(
        "by_due",
        {.requires_session = false, .order = MessageOrder::property, .order_property = "due"});
    CHECK(complaint([&] {
              broker.create_queue("x", {.forward_dead_letters_to = "none"});
          }).find("entity_not_found forward_dead_letters_to") == 0);
    CHECK(complaint([&] {
              broker.create_queue("x", {.forward_to = "news"});
          }).find("invalid_option forward_to") == 0); // it has sessions
    broker.create_subscription("news", "s");
    CHECK(complaint([&] {
              broker.create_queue(
                  "x", {.requires_session = false, .forward_to = "news/Subscriptions/s"});
          }).find("entity_not_found forward_to") == 0);
}

TEST_CASE("local broker: what is sent to a topic is received from its subscription, by session") {
    LocalBroker broker;
    broker.create_topic("news");
    broker.create_subscription("news", "red",
                               {.rules = {{.name = "red", .filter = SqlFilter{"color = 'red'"}}}});
    const Client client = Client::in_process(broker);
    Sender sender{client, "news"};
    for (const char* color : {"red", "blue", "red"}) {
        Message message = Message::of(color).in_session("a");
        message.properties.emplace("color", std::string{color});
        sender.send(std::move(message));
    }
    CHECK(broker.counts("news/subscriptions/red").active == 2);
    Browser browser{client, "news/subscriptions/red"};
    CHECK(browser.peek(10).size() == 2);
    Sender misled{client, "news/subscriptions/red"};
    CHECK(code_of([&] { misled.send(Message::of("1").in_session("a")); }) == Errc::not_supported);
}

TEST_CASE("local broker: with a data directory, what a client was told is done is there when the "
          "broker is made anew") {
    const test::TemporaryDirectory directory;
    const LocalBrokerOptions options{.data_directory = directory.path() / "data"};
    {
        LocalBroker broker{options};
        broker.create_queue("orders");
        broker.create_queue("left");
        const Client client = Client::in_process(broker);
        Sender sender{client, "orders"};
        for (const char* text : {"1", "2", "3"}) {
            sender.send(Message::of(text).in_session("a"));
        }
        Sender{client, "left"}.send(Message::of("x").in_session("b"));
        SessionReceiver receiver = SessionReceiver::accept(client, "orders", "a");
        receiver.receive_one(10s)->complete();
        receiver.receive_one(10s)->abandon();
        receiver.set_state("step");
    }
    LocalBroker broker{options};
    CHECK(code_of([&] { LocalBroker{options}; }) == Errc::invalid_state);
    CHECK(code_of([&] { broker.create_queue("orders", {.requires_session = false}); }) ==
          Errc::invalid_option);
    broker.create_queue("orders", {.max_delivery_count = 2});
    const Client client = Client::in_process(broker);
    CHECK(broker.counts("left").active == 1); // not made anew, and there
    CHECK(broker.counts("orders").active == 2);
    SessionReceiver receiver = SessionReceiver::accept(client, "orders", "a");
    auto again = receiver.receive_one(10s);
    REQUIRE(again);
    CHECK(again->text() == "2");
    CHECK(again->message().delivery_count() == 1);
    CHECK(receiver.state() == "step");
    again->abandon(); // the second time, which is as often as it may
    CHECK(broker.counts("orders").dead_lettered == 1);
}

TEST_CASE("local broker: a data directory that cannot be had is refused") {
    CHECK(code_of([] { LocalBroker{LocalBrokerOptions{.data_directory = "/dev/null/data"}}; }) ==
          Errc::resource_exhausted);
}

TEST_CASE("local broker: damaged data is refused, or set aside if the options say so") {
    const test::TemporaryDirectory directory;
    LocalBrokerOptions options{.data_directory = directory.path() / "data"};
    {
        LocalBroker broker{options};
        broker.create_queue("orders");
        const Client client = Client::in_process(broker);
        Sender sender{client, "orders"};
        sender.send(Message::of("one").in_session("a"));
        sender.send(Message::of(std::string(1000, 'x')).in_session("a"));
    }
    {
        const auto file = options.data_directory / "sessionq.db";
        std::string bytes(std::filesystem::file_size(file), '\0');
        std::fstream stream{file, std::ios::binary | std::ios::in | std::ios::out};
        stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        stream.seekp(static_cast<std::streamoff>(bytes.find(std::string(500, 'x')) + 100));
        stream << 'y';
    }
    CHECK(code_of([&] { LocalBroker{options}; }) == Errc::protocol_error);
    options.on_damage = static_cast<OnDamage>(7);
    CHECK(code_of([&] { LocalBroker{options}; }) == Errc::invalid_option);
    options.on_damage = OnDamage::set_aside;
    {
        set_log_level(LogLevel::off);
        const LocalBroker broker{options};
        set_log_level(LogLevel::warning);
        CHECK(broker.counts("orders").active == 1);
    }
    CHECK(std::filesystem::exists(options.data_directory / "sessionq.db.damaged-1"));
    options.on_damage = OnDamage::refuse;
    CHECK(LocalBroker{options}.counts("orders").active == 1);
}

TEST_CASE("local broker: a process that ends when it gets what is deleted with its delivery leaves "
          "nothing behind that would bring it again") {
    const test::TemporaryDirectory directory;
    const std::filesystem::path data = directory.path() / "data";
    LocalBroker broker{{.data_directory = data}};
    broker.create_queue("orders");
    const Client client = Client::in_process(broker);
    int ends = 0;
    const auto left_by_a_kill = [&] {
        const std::filesystem::path left = directory.path() / std::to_string(++ends);
        std::filesystem::create_directory(left);
        for (const auto& file : std::filesystem::directory_iterator{data}) {
            if (file.path().filename().string().find("reserve") == std::string::npos) {
                std::filesystem::copy(file.path(), left / file.path().filename());
            }
        }
        LocalBroker next{{.data_directory = left}};
        std::string texts;
        for (const ReceivedMessage& message : Browser{Client::in_process(next), "orders"}) {
            texts += message.text();
        }
        return texts;
    };
    std::vector<Message> messages;
    for (const char* text : {"1", "2", "3", "4", "5"}) {
        messages.push_back(Message::of(text).in_session("a"));
    }
    Sender{client, "orders"}.send_all(std::move(messages));
    std::int64_t deferred = 0;
    {
        SessionReceiver holder = SessionReceiver::accept(client, "orders", "a");
        auto received = holder.receive_one(10s);
        REQUIRE(received);
        deferred = received->message().sequence_number();
        received->defer();
        holder.close();
    }
    CHECK(left_by_a_kill() == "12345");
    SessionReceiver receiver =
        SessionReceiver::accept(client, "orders", "a", {.receive_and_delete = true});
    CHECK(receiver.receive_deferred({deferred}).size() == 1);
    CHECK(left_by_a_kill().find('1') == std::string::npos);
    for (const char text : {'2', '3', '4', '5'}) {
        const auto received = receiver.receive_one(10s);
        REQUIRE(received);
        CHECK(received->text() == std::string{text});
        CHECK(left_by_a_kill().find(text) == std::string::npos);
    }
}
