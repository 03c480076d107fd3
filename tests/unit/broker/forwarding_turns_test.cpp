// SPDX-License-Identifier: MIT
// Messages whose rules take longer than a turn.
#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "support/held_journal.hpp"
#include "unit/broker/queue_fixture.hpp"

using namespace sessionq;
using namespace sessionq::test;

namespace {

constexpr std::size_t text_bytes = 30'000;

/// A rule that takes about 30,000 steps for the message and does not match.
Rule slow(std::size_t number) {
    return {.name = "slow" + std::to_string(number), .filter = SqlFilter{"a LIKE '%aa_ab%'"}};
}

Message heavy(const char* body) {
    return {.body = body, .properties = {{"a", std::string(text_bytes, 'a')}}};
}

struct TurnsFixture : QueueFixture {
    TurnsFixture() {
        CHECK(broker.create_topic("news", {}, at).ok());
        queue = broker.find("news").value();
    }
    broker::QueuePtr subscribe(const std::string& name, std::size_t slow_rules) {
        std::vector<Rule> rules;
        for (std::size_t i = 0; i < slow_rules; ++i) {
            rules.push_back(slow(i));
        }
        rules.push_back({.name = "all"});
        CHECK(broker.create_subscription("news", name, {}, std::move(rules), at).ok());
        return broker.find("news/subscriptions/" + name).value();
    }
    /// Lets the broker's thread do all. Returns the number of turns.
    int finish() {
        int turns = 0;
        for (auto due = broker.next_wakeup(); due && *due <= at.now; due = broker.next_wakeup()) {
            broker.advance(at);
            ++turns;
            REQUIRE(turns < 1'000);
        }
        return turns;
    }
};

} // namespace

TEST_CASE("forwarding in turns: a message within a turn is there when the send returns") {
    TurnsFixture f;
    const auto news = f.subscribe("a", 10);
    f.send(heavy("1"));
    CHECK(f.peek_text(*news) == "1");
    CHECK_FALSE(f.queue->when_forwarded([] {}));
}

TEST_CASE("forwarding in turns: what takes longer is left to the broker's thread, due at once") {
    TurnsFixture f;
    const auto news = f.subscribe("a", 300); // nine turns
    f.send(heavy("1"));
    CHECK(f.peek_text(*news).empty());
    CHECK(f.count(*f.queue) == 1);
    CHECK(f.broker.next_wakeup() == f.at.now);
    f.broker.advance(f.at);
    CHECK(f.peek_text(*news).empty()); // a turn is not enough
    CHECK(f.finish() >= 5);
    CHECK(f.peek_text(*news) == "1");
    CHECK(f.count(*f.queue) == 0);
    CHECK(f.broker.next_wakeup() == std::nullopt);
}

TEST_CASE("forwarding in turns: nothing is forwarded while the journal is behind") {
    const auto journal = std::make_shared<HeldJournal>();
    broker::Broker broker{journal, {}, {}};
    broker::Instant at{TimePoint{1h}, WallTime{1h}};
    broker::QueuePtr from;
    broker::QueuePtr to;
    SUBCASE("from a topic") {
        REQUIRE(broker.create_topic("news", {}, at).ok());
        REQUIRE(broker.create_subscription("news", "a", {}, {{.name = "all"}}, at).ok());
        from = broker.find("news").value();
        to = broker.find("news/subscriptions/a").value();
    }
    SUBCASE("from a queue") {
        REQUIRE(broker.create_queue("to", {}, at).ok());
        REQUIRE(broker.create_queue("from", {.forward_to = "to"}, at).ok());
        from = broker.find("from").value();
        to = broker.find("to").value();
    }
    const auto arrived = [&] { return to->counts(at).active; };
    journal->behind = true;
    REQUIRE(from->send({Message{.body = "1"}}, at).ok());
    CHECK(arrived() == 0);
    const auto due = broker.next_wakeup();
    REQUIRE(due);
    CHECK(*due > at.now);
    at.now = *due;
    broker.advance(at); // behind still
    CHECK(arrived() == 0);
    journal->behind = false;
    REQUIRE(broker.next_wakeup());
    at.now = *broker.next_wakeup();
    broker.advance(at);
    CHECK(arrived() == 1);
}

TEST_CASE("forwarding in turns: a later message overtakes none, in any subscription") {
    TurnsFixture f;
    const auto first = f.subscribe("a", 300);
    const auto second = f.subscribe("b", 0);
    f.send(heavy("1"));
    f.send({.body = "2"});
    CHECK(f.peek_text(*first).empty());
    CHECK(f.peek_text(*second).empty());
    f.broker.advance(f.at);
    f.send({.body = "3"});
    f.finish();
    CHECK(f.peek_text(*first) == "1 2 3");
    CHECK(f.peek_text(*second) == "1 2 3");
}

TEST_CASE("forwarding in turns: a light topic does not wait for a heavy one") {
    TurnsFixture f;
    f.subscribe("a", 300);
    CHECK(f.broker.create_topic("light", {}, f.at).ok());
    CHECK(f.broker.create_subscription("light", "a", {}, {}, f.at).ok());
    f.send(heavy("1"));
    f.queue = f.broker.find("light").value();
    f.send({.body = "2"});
    CHECK(f.peek_text(*f.broker.find("light/subscriptions/a").value()) == "2");
}

TEST_CASE("forwarding in turns: who sent is told when the message is there") {
    TurnsFixture f;
    const auto news = f.subscribe("a", 300);
    f.send(heavy("1"));
    std::string seen;
    CHECK(f.queue->when_forwarded([&] { seen += f.peek_text(*news); }));
    f.send({.body = "2"});
    CHECK(f.queue->when_forwarded([&] { seen += "|" + f.peek_text(*news); }));
    CHECK(seen.empty());
    f.finish();
    CHECK(seen == "1|1 2");
    CHECK_FALSE(f.queue->when_forwarded([] {}));
}

TEST_CASE("forwarding in turns: who waits is told when the topic is deleted") {
    TurnsFixture f;
    f.subscribe("a", 300);
    f.send(heavy("1"));
    int told = 0;
    CHECK(f.queue->when_forwarded([&] { ++told; }));
    CHECK(f.broker.delete_entity("news", f.at).ok());
    CHECK(told == 1);
    CHECK_FALSE(f.queue->when_forwarded([] {}));
}

TEST_CASE("forwarding in turns: a message meets the rules that there were when it was sent") {
    TurnsFixture f;
    CHECK(f.broker.create_subscription("news", "a", {}, {slow(0)}, f.at).ok());
    const auto news = f.broker.find("news/subscriptions/a").value();
    for (std::size_t i = 1; i < 300; ++i) {
        CHECK(f.broker.create_subscription("news", "b" + std::to_string(i), {}, {slow(i)}, f.at)
                  .ok());
    }
    f.send(heavy("1"));
    CHECK(f.queue->when_forwarded([] {}));
    const auto* const rules = "a LIKE 'a%'";
    CHECK(f.broker
              .create_subscription("news", "late", {}, {{.name = "r", .filter = SqlFilter{rules}}},
                                   f.at)
              .ok());
    f.finish();
    CHECK(f.peek_text(*f.broker.find("news/subscriptions/late").value()).empty());
    f.send(heavy("2"));
    f.finish();
    CHECK(f.peek_text(*f.broker.find("news/subscriptions/late").value()) == "2");
    CHECK(f.peek_text(*news).empty());
}

TEST_CASE(
    "forwarding in turns: with several senders and the broker's thread every message arrives, "
    "in order for each sender, and every sender is told") {
    TurnsFixture f;
    const auto news = f.subscribe("a", 60); // every message takes more than a turn
    constexpr int each = 20;
    constexpr int senders = 3;
    std::atomic<int> told{0};
    std::atomic<int> expected{0};
    std::atomic<bool> ended{false};
    std::thread broker_thread{[&] {
        while (!ended || f.broker.next_wakeup()) {
            f.broker.advance(f.at);
            std::this_thread::yield();
        }
    }};
    std::vector<std::thread> threads;
    for (int t = 0; t < senders; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < each; ++i) {
                Message message = heavy(std::to_string(i).c_str());
                message.session_id = std::to_string(t);
                CHECK(f.queue->send(std::vector{std::move(message)}, f.at).ok());
                if (f.queue->when_forwarded([&] { ++told; })) {
                    ++expected;
                }
            }
        });
    }
    for (auto& thread : threads) {
        thread.join();
    }
    ended = true;
    broker_thread.join();
    CHECK(told == expected);
    CHECK(f.count(*f.queue) == 0);
    for (int t = 0; t < senders; ++t) {
        const auto seen = news->peek(0, 1'000, std::to_string(t), f.at);
        REQUIRE(seen.size() == each);
        for (int i = 0; i < each; ++i) {
            REQUIRE(seen[static_cast<std::size_t>(i)].content().body == std::to_string(i));
        }
    }
}

TEST_CASE("forwarding in turns: a dead letter that is on its way is not deleted") {
    TurnsFixture f;
    constexpr std::uint32_t count = 2'000;
    CHECK(f.broker.create_queue("graves", {}, f.at).ok());
    CHECK(f.broker.create_queue("source", {.forward_dead_letters_to = "graves"}, f.at).ok());
    const auto source = f.broker.find("source").value();
    const auto dead = f.broker.find("source/$DeadLetterQueue").value();
    CHECK(source->send(std::vector<Message>(count), f.at).ok());
    const auto target = std::make_shared<RecordingTarget>();
    const auto consumer = source->open(broker::ReceiveMode::peek_lock, 0, target, f.at).value();
    std::vector<broker::Delivered> got;
    source->pull(*consumer, count, got, f.at);
    std::vector<broker::SettleOrder> orders;
    for (const auto& each : got) {
        orders.push_back({.token = each.token, .outcome = broker::Outcome::dead_letter});
    }
    source->settle(*consumer, orders, f.at);
    source->close(*consumer, f.at);
    CHECK(f.count(*dead) > 0); // the rest waits for the next turn
    CHECK(dead->delete_messages({.max = count, .enqueued_before = f.at.wall + 1h}, f.at).value() ==
          0);
    f.finish();
    CHECK(f.count(*dead) == 0);
    CHECK(f.count(*f.broker.find("graves").value()) == count);
}
