// SPDX-License-Identifier: MIT
#include "broker/broker.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "unit/broker/queue_fixture.hpp"

using namespace sessionq;
using namespace sessionq::test;

TEST_CASE("broker: queues and their dead letters are found by name until they are deleted") {
    QueueFixture f;
    CHECK(f.broker.find("orders").value()->name() == "orders");
    CHECK(f.broker.find("orders/$DeadLetterQueue").value()->name() == "orders/$DeadLetterQueue");
    CHECK(f.broker.find("other").failure().code == Errc::entity_not_found);
    CHECK(f.broker.find("other/$DeadLetterQueue").failure().code == Errc::entity_not_found);
    CHECK(f.broker.create_queue("orders", {}, f.at).failure().code == Errc::duplicate_entity);
    CHECK(f.broker.create_queue("other", {}, f.at).ok());
    CHECK(f.broker.names(broker::EntityKind::queue) == std::vector<std::string>{"orders", "other"});
    CHECK(f.broker.delete_entity("orders", f.at).ok());
    CHECK(f.broker.delete_entity("orders", f.at).failure().code == Errc::entity_not_found);
    CHECK(f.broker.names(broker::EntityKind::queue) == std::vector<std::string>{"other"});
}

TEST_CASE("broker: bad names and options are rejected") {
    QueueFixture f;
    for (const std::string& name :
         {std::string{}, std::string(261, 'x'), std::string{"a/$DeadLetterQueue"}}) {
        CHECK(f.broker.create_queue(name, {}, f.at).failure().code == Errc::invalid_argument);
    }
    CHECK(f.broker.create_queue(std::string(260, 'x'), {}, f.at));
    CHECK(f.broker.create_queue("x", {.lock_duration = 0s}, f.at).failure().code ==
          Errc::invalid_option);
    CHECK(f.broker.names(broker::EntityKind::queue).size() == 2);
}

TEST_CASE("broker: deleting a queue ends its consumers and waiting accepts, and its handles reject "
          "calls") {
    QueueFixture f;
    f.send("a", {"1"});
    const auto holder = f.accept("a");
    const auto got = f.pull(*holder);
    const auto waiting = f.accept(std::nullopt, 10s);
    auto reader = std::make_shared<RecordingTarget>();
    reader->consumer =
        f.dead_letters->open(broker::ReceiveMode::peek_lock, 0, reader, f.at).value();
    CHECK(f.broker.delete_entity("orders", f.at).ok());
    CHECK(holder->lost == Errc::entity_not_found);
    CHECK(waiting->refused == Errc::entity_not_found);
    CHECK(reader->lost == Errc::entity_not_found);
    CHECK(f.settle(*holder, got[0], broker::Outcome::complete) == Errc::lock_lost);
    CHECK(f.accept("a")->refused == Errc::entity_not_found);
    std::vector<Message> one;
    one.push_back(Message::of("2").in_session("a"));
    CHECK(f.queue->send(std::move(one), f.at).failure().code == Errc::entity_not_found);
    f.close(*holder);
}

TEST_CASE("wake-up: it is the earliest of all queues, and unset if nothing is due") {
    QueueFixture f;
    CHECK(f.broker.next_wakeup() == std::nullopt);
    CHECK(
        f.broker.create_queue("brief", {.requires_session = true, .lock_duration = 5s}, f.at).ok());
    const auto a = f.accept("a");
    CHECK(f.broker.next_wakeup() == f.at.now + f.lock_duration);
    auto other = std::make_shared<RecordingTarget>();
    const auto brief = f.broker.find("brief").value();
    brief->accept({.session_id = "b"}, other, f.at);
    CHECK(f.broker.next_wakeup() == f.at.now + 5s);
    brief->close(*other->consumer, f.at);
    f.close(*a);
    f.pass_and_advance(f.lock_duration);
    CHECK(f.broker.next_wakeup() == std::nullopt);
}

TEST_CASE("wake-up: the driver is told only if something is due earlier than it was last told") {
    broker::Broker broker;
    int told = 0;
    broker.set_wakeup_listener([&] { ++told; });
    const broker::Instant at{TimePoint{1h}, WallTime{}};
    CHECK(broker.create_queue("q", {.requires_session = true, .lock_duration = 30s}, at).ok());
    const auto queue = broker.find("q").value();
    const auto accept = [&](const char* id, Duration later) {
        auto target = std::make_shared<RecordingTarget>();
        queue->accept({.session_id = id}, target, {at.now + later, at.wall});
        return target;
    };
    CHECK(broker.next_wakeup() == std::nullopt);
    const auto first = accept("a", 10s);
    CHECK(told == 1);
    const auto second = accept("b", 20s);
    CHECK(told == 1);
    CHECK(broker.next_wakeup() == at.now + 40s);
    const auto third = accept("c", 21s);
    CHECK(told == 1);
    Message brief = Message::of("1").in_session("d");
    brief.time_to_live = 1s;
    std::vector<Message> one;
    one.push_back(brief);
    CHECK(queue->send(std::move(one), {at.now + 22s, at.wall}).ok());
    CHECK(told == 2);
    CHECK(broker.next_wakeup() == at.now + 23s);
    CHECK(broker.delete_entity("q", at).ok());
}

TEST_CASE("queue: when many threads send, accept, settle and close, every message is completed "
          "once, in order") {
    QueueFixture f;
    constexpr int threads = 4;
    constexpr int sessions = 16;
    constexpr int per_session = 200;
    std::atomic<int> completed{0};
    std::vector<std::vector<std::int64_t>> seen(sessions);
    std::vector<std::thread> running;
    for (int t = 0; t < threads; ++t) {
        running.emplace_back([&, t] {
            for (int i = 0; i < sessions * per_session / threads; ++i) {
                std::vector<Message> one;
                one.push_back(
                    Message::of("x").in_session(std::to_string((i * threads + t) % sessions)));
                CHECK(f.queue->send(std::move(one), f.at).ok());
            }
        });
        running.emplace_back([&] {
            while (completed.load() < sessions * per_session) {
                auto target = std::make_shared<RecordingTarget>();
                f.queue->accept({}, target, f.at);
                if (!target->consumer) {
                    std::this_thread::yield();
                    continue;
                }
                std::vector<broker::Delivered> got;
                CHECK(f.queue->pull(*target->consumer, 7, got, f.at));
                auto& order = seen[static_cast<std::size_t>(
                    std::stoi(target->consumer->session_id))]; // used by the holder only
                std::vector<broker::SettleOrder> orders;
                // all but the last message, which is released
                for (std::size_t i = 0; i < got.size(); ++i) {
                    if (i + 1 < got.size() || got.size() == 1) {
                        orders.push_back({.token = got[i].token});
                        order.push_back(got[i].message.sequence_number());
                    }
                }
                f.queue->settle(*target->consumer, orders, f.at);
                completed += static_cast<int>(orders.size());
                f.queue->close(*target->consumer, f.at);
            }
        });
    }
    for (auto& thread : running) {
        thread.join();
    }
    CHECK(f.count(*f.queue) == 0);
    for (const auto& order : seen) {
        CHECK(order.size() == per_session);
        CHECK(std::ranges::is_sorted(order));
    }
}

TEST_CASE("broker: consumers that were not closed end with the broker, without a notification") {
    std::weak_ptr<RecordingTarget> session_target;
    std::weak_ptr<RecordingTarget> plain_target;
    std::weak_ptr<RecordingTarget> waiting_target;
    {
        broker::Broker broker;
        const broker::Instant at{.now = TimePoint{1s}, .wall = WallTime{1s}};
        REQUIRE(broker.create_queue("sessions", {.requires_session = true}, at).ok());
        REQUIRE(broker.create_queue("plain", {}, at).ok());
        const auto keep = [](auto& weak) {
            auto target = std::make_shared<RecordingTarget>();
            weak = target;
            return target;
        };
        auto held = keep(session_target);
        broker.find("sessions").value()->accept({.session_id = "a"}, held, at);
        REQUIRE(held->consumer);
        broker.find("sessions")
            .value()
            ->accept({.until = TimePoint{100s}}, keep(waiting_target), at);
        auto plain = keep(plain_target);
        plain->consumer = broker.find("plain")
                              .value()
                              ->open(broker::ReceiveMode::peek_lock, 0, plain, at)
                              .value();
    }
    CHECK(session_target.expired());
    CHECK(plain_target.expired());
    CHECK(waiting_target.expired());
}
