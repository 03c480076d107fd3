// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <latch>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <sessionq/sessionq.hpp>

#include "core/uuid.hpp"

using namespace sessionq;
using namespace std::chrono_literals;

namespace {

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    REQUIRE_MESSAGE(value != nullptr, name);
    return value;
}

std::string plain_url() { return environment("SESSIONQ_BROKER_URL"); }
std::string tls_url() { return environment("SESSIONQ_BROKER_TLS_URL"); }
std::string ca_file() { return environment("SESSIONQ_BROKER_CA"); }

std::string password_of(const std::string& url) {
    const std::size_t colon = url.find(':', url.find("//"));
    return url.substr(colon + 1, url.find('@') - colon - 1);
}
std::string with_password(std::string url, const std::string& password) {
    return url.replace(url.find(password_of(url)), password_of(url).size(), password);
}

#if defined(SESSIONQ_CONTRACT_ARTEMIS)
constexpr const char* dialect = "artemis";
constexpr const char* broker = "Apache ActiveMQ Artemis";
std::string fresh_queue() { return "t.d10." + core::Uuid::make().to_string(); }
#else
constexpr const char* dialect = "broker-j";
constexpr const char* broker = "Apache Qpid Broker-J";
std::string fresh_queue() { return "standard.d10." + core::Uuid::make().to_string(); }
#endif

/// Sends and receives one message.
void round_trip(const Client& client) {
    const std::string queue = fresh_queue();
    Sender{client, queue}.send(Message::of("1").in_session("a"));
    auto receiver = SessionReceiver::accept_next(client, queue);
    auto message = receiver.receive_one(5s);
    REQUIRE(message);
    CHECK(message->message().text() == "1");
    message->complete();
    receiver.close();
}

template <typename Call>
Failure failure_of(Call call) {
    try {
        call();
    } catch (const Error& error) {
        return error.failure();
    }
    FAIL("expected an error");
    return {};
}

} // namespace

TEST_CASE("connect: over TCP, with or without a dialect in the URL") {
    round_trip(Client::connect(plain_url()));
    round_trip(Client::connect(plain_url() + "?dialect=" + dialect));
}

TEST_CASE("connect: over TLS, with a given authority") {
    round_trip(Client::connect(tls_url(), {}, {.ca_file = ca_file()}));
}

TEST_CASE("connect: a certificate from an unknown authority is rejected") {
    CHECK(failure_of([] { static_cast<void>(Client::connect(tls_url())); }).code ==
          Errc::peer_untrusted);
}

#if defined(SESSIONQ_CONTRACT_ARTEMIS)
TEST_CASE("connect: a client certificate replaces user and password") {
    const auto directory = std::filesystem::path{ca_file()}.parent_path();
    const std::string url = tls_url();
    round_trip(Client::connect("amqps://" + url.substr(url.find('@') + 1), {},
                               {.ca_file = ca_file(),
                                .certificate_file = directory / "client.pem",
                                .key_file = directory / "client.key"}));
}
#endif

TEST_CASE("connect: R24: a wrong password is unauthorized and not in the error text") {
    const Failure failure = failure_of(
        [] { static_cast<void>(Client::connect(with_password(plain_url(), "wr0ng-secret"))); });
    CHECK(failure.code == Errc::unauthorized);
    CHECK(failure.to_string().find("wr0ng-secret") == std::string::npos);
}

TEST_CASE("connect: tries the next host if one does not answer") {
    const std::string url = plain_url();
    const std::size_t at = url.find('@');
    round_trip(Client::connect(url.substr(0, at + 1) + "127.0.0.1:1," + url.substr(at + 1)));
}

TEST_CASE("connect: fails with a clear error if no host answers") {
    CHECK(failure_of([] {
              static_cast<void>(Client::connect("amqp://127.0.0.1:1,127.0.0.1:2"));
          }).code == Errc::connection_refused);
}

TEST_CASE("connect: TLS on a plain port, or the reverse, fails in time and names the port") {
    const std::string plain = plain_url();
    const std::string tls = tls_url();
    for (const std::string& wrong : {"amqps" + plain.substr(4), "amqp" + tls.substr(5)}) {
        const Failure failure = failure_of(
            [&] { static_cast<void>(Client::connect(wrong, {.operation_timeout = 3s})); });
        // some brokers disconnect, others wait for more
        CHECK((failure.code == Errc::connection_refused || failure.code == Errc::timeout));
        CHECK(failure.detail.find(wrong.substr(wrong.rfind('@') + 1, 9)) != std::string::npos);
    }
}

#if defined(SESSIONQ_CONTRACT_BROKER_J)
TEST_CASE("connect: an unknown virtual host is not found, and named") {
    const Failure failure =
        failure_of([] { static_cast<void>(Client::connect(plain_url() + "/nosuch")); });
    CHECK(failure.code == Errc::entity_not_found);
    CHECK(failure.peer_text.find("nosuch") != std::string::npos);
}
#endif

TEST_CASE("unsupported: each call names the broker and the capability") {
    const auto client = Client::connect(plain_url());
    const std::string queue = fresh_queue();
    Sender sender{client, queue};
    sender.send(Message::of("1").in_session("a"));
    const auto check = [](const Failure& failure, const char* capability) {
        CHECK(failure.code == Errc::not_supported);
        CHECK(failure.detail.find(broker) != std::string::npos);
        CHECK(failure.detail.find(capability) != std::string::npos);
    };
    check(failure_of([&] { static_cast<void>(list_sessions(client, queue)); }), "list sessions");
    check(failure_of([&] { static_cast<void>(Browser{client, queue}.peek(1)); }), "peek");
    auto receiver = SessionReceiver::accept_next(client, queue);
    check(failure_of([&] { static_cast<void>(receiver.state()); }), "session state");
    check(failure_of([&] { receiver.set_state(std::string{"x"}); }), "session state");
    check(failure_of([&] { static_cast<void>(receiver.renew_lock()); }), "lock renewal");
    auto message = receiver.receive_one(5s);
    REQUIRE(message);
    check(failure_of([&] { message->defer(); }), "defer");
    message->complete();
    receiver.close();
    Message later = Message::of("later").in_session("a");
    later.scheduled_enqueue_time = std::chrono::system_clock::now() + 1h;
    check(failure_of([&] { sender.cancel_scheduled({1}); }), "scheduled");
#if defined(SESSIONQ_CONTRACT_BROKER_J)
    check(failure_of([&] { sender.send(later); }), "scheduled");
    check(failure_of([&] { sender.schedule(later, *later.scheduled_enqueue_time); }), "scheduled");
#endif
}

TEST_CASE("groups: a busy group does not block others, within max_buffered_bytes") {
    const auto client = Client::connect(plain_url());
    const std::string queue = fresh_queue();
    Sender sender{client, queue};
    std::vector<Message> messages(1000, Message::of("x").in_session("busy"));
    sender.send_all(std::move(messages));
    for (int i = 0; i < 50; ++i) {
        sender.send(Message::of("x").in_session("other" + std::to_string(i)));
    }
    std::promise<void> go_on;
    const auto may_go_on = go_on.get_future().share();
    std::latch others{50};
    std::latch all{1050};
    SessionProcessor processor{
        client,
        queue,
        {.max_concurrent_sessions = 8, .session_idle_timeout = 10ms, .worker_threads = 4}};
    processor.on_message([&](MessageContext& call) {
        if (call.session().session_id() == "busy") {
            may_go_on.wait();
        } else {
            others.count_down();
        }
        all.count_down();
    });
    processor.start();
    others.wait(); // while the handler of the busy group's first message runs
    go_on.set_value();
    all.wait();
    CHECK(processor.stop(10s).complete);
}

TEST_CASE("groups: an idle consumer's groups may go to another consumer") {
    const std::string queue = fresh_queue();
    const auto here = Client::connect(plain_url());
    const auto there = Client::connect(plain_url());
    Sender{here, queue}.send(Message::of("1").in_session("a"));
    std::atomic<int> handled_here{0};
    SessionProcessor patient{
        here, queue, {.max_concurrent_sessions = 2, .session_idle_timeout = 10ms}};
    patient.on_message([&](MessageContext&) { ++handled_here; });
    patient.start();
    while (handled_here == 0) {
        std::this_thread::sleep_for(5ms);
    }
    std::this_thread::sleep_for(2s); // the link is closed after 1 s of idleness
    std::promise<void> came;
    SessionProcessor preferred{there, queue, {.max_concurrent_sessions = 2, .priority = 5}};
    preferred.on_message([&](MessageContext&) { came.set_value(); });
    preferred.start();
    std::this_thread::sleep_for(500ms);
    Sender{here, queue}.send(Message::of("2").in_session("a"));
    CHECK(came.get_future().wait_for(10s) == std::future_status::ready);
    CHECK(handled_here == 1);
}

TEST_CASE("groups: messages that were fetched but not handled return uncounted and in order") {
    const std::string queue = fresh_queue();
    const auto client = Client::connect(plain_url());
    std::vector<Message> messages;
    for (int i = 0; i < 100; ++i) {
        messages.push_back(
            Message::of(std::to_string(i / 5)).in_session("g" + std::to_string(i % 5)));
    }
    Sender{client, queue}.send_all(std::move(messages));
    std::mutex mutex;
    std::map<std::string, int, std::less<>> next;
    int handled = 0;
    const auto run = [&](int most) {
        std::promise<void> enough;
        SessionProcessor processor{
            client,
            queue,
            {.max_concurrent_sessions = 3, .session_idle_timeout = 10ms, .worker_threads = 2}};
        processor.on_message([&](MessageContext& call) {
            const std::lock_guard lock{mutex};
            CHECK(call.message().delivery_count() == 0);
            CHECK(call.message().text() ==
                  std::to_string(next[std::string{call.session().session_id()}]++));
            if (++handled == most) {
                enough.set_value();
            }
        });
        processor.start();
        enough.get_future().wait();
        CHECK(processor.stop(10s).complete);
    };
    run(30);
    const int before = handled;
    CHECK(before < 100);
    run(100);
    CHECK(handled == 100);
}

#if defined(SESSIONQ_CONTRACT_ARTEMIS)
TEST_CASE("groups: a reassigned group is a new session, and the old one is lost before its next "
          "message") {
    const std::string queue = "rebalanced.d10." + core::Uuid::make().to_string();
    const auto here = Client::connect(plain_url());
    const auto there = Client::connect(plain_url());
    Sender sender{here, queue};
    sender.send(Message::of("1").in_session("a"));
    auto before = SessionReceiver::accept_next(here, queue);
    auto first = before.receive_one(5s);
    REQUIRE(first);
    first->complete();
    // a consumer that comes and goes makes the broker reassign groups
    CHECK_FALSE(SessionReceiver::accept_next_if_any(there, queue, 500ms));
    CHECK_FALSE(before.loss());
    sender.send(Message::of("2").in_session("a"));
    CHECK(failure_of([&] { static_cast<void>(before.receive_one(5s)); }).code == Errc::lock_lost);
    auto after = SessionReceiver::accept_next(here, queue);
    auto second = after.receive_one(5s);
    REQUIRE(second);
    CHECK(second->message().text() == "2");
    CHECK(second->message().delivery_count() == 0);
    second->complete();
    after.close();
}

TEST_CASE("groups: on a rebalancing queue an idle consumer keeps others' groups in place") {
    const std::string queue = "rebalanced.d10." + core::Uuid::make().to_string();
    const auto here = Client::connect(plain_url());
    const auto there = Client::connect(plain_url());
    std::mutex mutex;
    // the consumer of each group's messages
    std::map<std::string, std::string, std::less<>> handled;
    std::atomic<int> done{0};
    std::atomic<int> lost{0};
    const auto consume = [&](SessionProcessor& processor, char name) {
        processor.on_message([&, name](MessageContext& call) {
            const std::lock_guard lock{mutex};
            handled[std::string{call.session().session_id()}] += name;
            ++done;
        });
        processor.on_session_close([&](SessionContext&, CloseReason why) {
            lost += why == CloseReason::lock_lost ? 1 : 0;
        });
        processor.start();
    };
    SessionProcessor patient{
        here, queue, {.max_concurrent_sessions = 16, .session_idle_timeout = 1min}};
    SessionProcessor idle{
        there,
        queue,
        {.max_concurrent_sessions = 16, .session_idle_timeout = 10ms, .accept_wait = 1s}};
    consume(patient, 'p');
    consume(idle, 'i');
    std::this_thread::sleep_for(500ms); // until both are attached
    Sender sender{here, queue};
    const auto send_to_each = [&](int all) {
        for (int i = 0; i < 8; ++i) {
            sender.send(Message::of("x").in_session("g" + std::to_string(i)));
        }
        const auto hopeless = std::chrono::steady_clock::now() + 10s;
        while (done < all && std::chrono::steady_clock::now() < hopeless) {
            std::this_thread::sleep_for(5ms);
        }
        REQUIRE(done == all);
    };
    send_to_each(8);
    for (int all : {16, 24}) {
        std::this_thread::sleep_for(2s); // twice the time after which an idle link would be closed
        send_to_each(all);
    }
    CHECK(lost == 0);
    int of_the_patient = 0;
    for (const auto& [group, whose] : handled) {
        CHECK((whose == "ppp" || whose == "iii"));
        of_the_patient += whose == "ppp" ? 1 : 0;
    }
    CHECK(of_the_patient > 0);
    CHECK(of_the_patient < 8);
    CHECK(idle.stop(10s).complete);
    CHECK(patient.stop(10s).complete);
}

TEST_CASE("groups: on a queue that rebalances with pause, a new consumer gets its share after "
          "pending messages") {
    const std::string queue = "rebalanced.d10." + core::Uuid::make().to_string();
    const auto here = Client::connect(plain_url());
    const auto there = Client::connect(plain_url());
    std::vector<Message> messages;
    for (int i = 0; i < 400; ++i) {
        messages.push_back(
            Message::of(std::to_string(i / 8)).in_session("g" + std::to_string(i % 8)));
    }
    Sender sender{here, queue};
    sender.send_all(messages);
    std::mutex mutex;
    std::map<std::string, std::string, std::less<>> handled;
    std::map<std::string, int, std::less<>> running;
    std::atomic<int> done{0};
    std::atomic<int> by_the_second{0};
    const auto handler = [&](std::atomic<int>* count) {
        return [&, count](MessageContext& call) {
            const std::string group{call.session().session_id()};
            {
                const std::lock_guard lock{mutex};
                CHECK(++running[group] == 1);
                handled[group] += std::string{call.message().text()} + " ";
            }
            std::this_thread::sleep_for(1ms);
            {
                const std::lock_guard lock{mutex};
                --running[group];
            }
            if (count != nullptr) {
                ++*count;
            }
            ++done;
        };
    };
    const SessionProcessorOptions options{
        .max_concurrent_sessions = 8, .session_idle_timeout = 20ms, .worker_threads = 2};
    SessionProcessor one{here, queue, options};
    one.on_message(handler(nullptr));
    one.start();
    while (done < 100) {
        std::this_thread::sleep_for(1ms);
    }
    SessionProcessor two{there, queue, options};
    two.on_message(handler(&by_the_second));
    two.start();
    for (int i = 400; by_the_second == 0 && i < 40'000; ++i) {
        const Message more =
            Message::of(std::to_string(i / 8)).in_session("g" + std::to_string(i % 8));
        sender.send(more);
        messages.push_back(more);
    }
    CHECK(by_the_second > 0);
    const auto hopeless = std::chrono::steady_clock::now() + 20s;
    while (done < static_cast<int>(messages.size()) &&
           std::chrono::steady_clock::now() < hopeless) {
        std::this_thread::sleep_for(5ms);
    }
    CHECK(one.stop(10s).complete);
    CHECK(two.stop(10s).complete);
    for (const auto& [group, order] : handled) {
        std::string expected;
        for (std::size_t i = 0; i <= (messages.size() - 1) / 8; ++i) {
            if (i * 8 + static_cast<std::size_t>(group.back() - '0') < messages.size()) {
                expected += std::to_string(i) + " ";
            }
        }
        CHECK(order == expected);
    }
}
#endif
