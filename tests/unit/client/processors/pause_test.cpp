// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <latch>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <sessionq/processor.hpp>
#include <sessionq/receiver.hpp>
#include <sessionq/session_processor.hpp>
#include <sessionq/session_receiver.hpp>

#include "core/clock.hpp"
#include "support/code_of.hpp"
#include "unit/client/orders_fixture.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using test::code_of;
using PauseState = ProcessorDescription::State;

namespace {

constexpr auto pause_patience = 30s; // never waited for in full unless something hangs

struct PauseFixture : test::OrdersFixture {
    void send(const std::string& session, int count) {
        std::vector<Message> messages;
        for (int i = 0; i < count; ++i) {
            messages.push_back(Message::of(std::to_string(i)).in_session(session));
        }
        sender.send_all(std::move(messages));
    }
};

/// Whether the pause is complete, soon.
template <typename AnyProcessor>
bool comes_to_rest(const AnyProcessor& processor) {
    const auto end = core::system_clock().now() + pause_patience;
    while (core::system_clock().now() < end) {
        const ProcessorDescription told = processor.describe();
        const bool all = std::all_of(told.slots.begin(), told.slots.end(),
                                     [](const auto& slot) { return slot.state == "paused"; });
        if (told.state == PauseState::paused && all && told.parked.empty() &&
            told.settling.empty()) {
            return true;
        }
        std::this_thread::yield();
    }
    return false;
}

} // namespace

TEST_CASE_FIXTURE(PauseFixture,
                  "pause: a handler pauses its processor; all sessions are given back and "
                  "come again after resume, in order") {
    constexpr int sessions = 6;
    constexpr int each = 10;
    for (int i = 0; i < sessions; ++i) {
        send("s" + std::to_string(i), each);
    }
    SessionProcessor processor{
        client,
        "orders",
        {.max_concurrent_sessions = 4, .session_idle_timeout = 1h, .worker_threads = 2}};
    std::mutex mutex;
    std::map<std::string, std::string, std::less<>> seen;
    std::vector<CloseReason> reasons;
    std::atomic<int> handled{0};
    std::latch first{1};
    std::atomic<std::uint32_t> deliveries{0};
    processor.on_message([&](MessageContext& context) {
        if (++handled == 3) {
            processor.pause();
            CHECK_FALSE(context.stop_token().stop_requested());
            first.count_down();
        }
        deliveries += context.message().delivery_count();
        const std::lock_guard lock{mutex};
        seen[std::string{context.message().session_id()}] += context.message().text();
    });
    processor.on_session_close([&](SessionContext&, CloseReason why) {
        const std::lock_guard lock{mutex};
        reasons.push_back(why);
    });
    processor.start();
    first.wait();
    REQUIRE(comes_to_rest(processor));
    CHECK(processor.describe().health.reasons.empty());
    CHECK_FALSE(reasons.empty());
    CHECK(std::count(reasons.begin(), reasons.end(), CloseReason::paused) ==
          static_cast<std::ptrdiff_t>(reasons.size()));
    const int before = handled;
    CHECK(before < sessions * each);
    for (int i = 0; i < sessions; ++i) { // none is locked
        const std::string id = "s" + std::to_string(i);
        SessionReceiver other = SessionReceiver::accept(client, "orders", id);
        CHECK(other.session_id() == id);
        other.close();
    }
    CHECK(handled == before);

    processor.resume();
    CHECK(processor.describe().state == PauseState::running);
    processor.update_limits({.max_concurrent_sessions = sessions});
    const auto end = core::system_clock().now() + pause_patience;
    while (handled < sessions * each && core::system_clock().now() < end) {
        std::this_thread::yield();
    }
    CHECK(processor.stop(pause_patience).complete);
    CHECK(broker.counts("orders").active == 0);
    CHECK(deliveries == 0); // what went back does not count
    REQUIRE(seen.size() == sessions);
    for (const auto& [session, texts] : seen) {
        CHECK(texts == "0123456789");
    }
}

TEST_CASE_FIXTURE(PauseFixture, "pause: a processor without sessions gives its messages back") {
    broker.create_queue("plain", {.requires_session = false});
    Sender plain{client, "plain"};
    plain.send({.body = "1"});
    Processor processor{client, "plain"};
    std::atomic<int> handled{0};
    std::promise<void> one;
    std::promise<void> two;
    processor.on_message([&](MessageContext&) { (++handled == 1 ? one : two).set_value(); });
    CHECK(code_of([&] { processor.pause(); }) == Errc::invalid_state);
    CHECK(code_of([&] { processor.resume(); }) == Errc::invalid_state);
    processor.start();
    REQUIRE(one.get_future().wait_for(pause_patience) == std::future_status::ready);
    processor.pause();
    processor.pause();
    REQUIRE(comes_to_rest(processor));
    plain.send({.body = "2"});
    Receiver other = Receiver::open(client, "plain");
    auto message = other.receive_one(); // nobody else wants it
    REQUIRE(message);
    message->abandon();
    other.close();
    CHECK(handled == 1);
    processor.resume();
    CHECK(two.get_future().wait_for(pause_patience) == std::future_status::ready);
    CHECK(processor.stop(pause_patience).complete);
    CHECK(broker.counts("plain").active == 0);
}

TEST_CASE_FIXTURE(PauseFixture, "pause: it needs a processor that was started and not stopped") {
    SessionProcessor processor{client, "orders"};
    processor.on_message([](MessageContext&) {});
    CHECK(code_of([&] { processor.pause(); }) == Errc::invalid_state);
    CHECK(code_of([&] { processor.resume(); }) == Errc::invalid_state);
    processor.start();
    processor.resume();
    CHECK(processor.describe().state == PauseState::running);
    processor.pause();
    CHECK(processor.stop(pause_patience).complete);
    CHECK(code_of([&] { processor.pause(); }) == Errc::invalid_state);
    CHECK(code_of([&] { processor.resume(); }) == Errc::invalid_state);
}

TEST_CASE_FIXTURE(PauseFixture,
                  "pause: threads pause, resume and change limits at once, and nothing is "
                  "lost") {
    constexpr int each = 200;
    send("a", each);
    send("b", each);
    SessionProcessor processor{client, "orders", {.session_idle_timeout = 0ms}};
    std::atomic<int> handled{0};
    std::promise<void> all;
    processor.on_message([&](MessageContext&) {
        if (++handled == 2 * each) {
            all.set_value();
        }
    });
    processor.start();
    {
        std::vector<std::jthread> threads;
        for (std::uint32_t i = 1; i <= 3; ++i) {
            threads.emplace_back([&processor, i] {
                for (int n = 0; n < 30; ++n) {
                    processor.pause();
                    processor.update_limits({.max_concurrent_sessions = i});
                    processor.resume();
                }
            });
        }
    }
    CHECK(all.get_future().wait_for(pause_patience) == std::future_status::ready);
    CHECK(processor.stop(pause_patience).complete);
    CHECK(handled == 2 * each);
    CHECK(broker.counts("orders").active == 0);
}

TEST_CASE_FIXTURE(PauseFixture, "pause: R18: a paused processor may be destroyed") {
    send("a", 1);
    std::promise<void> entered;
    {
        SessionProcessor processor{client, "orders"};
        processor.on_message([&](MessageContext&) { entered.set_value(); });
        processor.start();
        REQUIRE(entered.get_future().wait_for(pause_patience) == std::future_status::ready);
        processor.pause();
    }
    CHECK(broker.counts("orders").active == 0);
}
